package dev.sandglass.egress.tunnel;

import dev.sandglass.egress.client.Admission;
import dev.sandglass.egress.client.Clients;
import java.util.Set;
import java.util.function.LongSupplier;

/** What all connections of a proxy share. */
record Workings(
        Admission admission,
        Clients clients,
        Tunnels tunnels,
        Allotments allotments,
        Destinations destinations,
        Dialler dialler,
        Limits limits,
        Backlog backlog,
        Set<Integer> tlsPorts,
        Audit audit,
        LongSupplier nanoTime) {}
