package dev.sandglass.egress.proxy;

import dev.sandglass.egress.audit.Audit;
import dev.sandglass.egress.client.ClientAdmission;
import dev.sandglass.egress.client.Clients;
import dev.sandglass.egress.tunnel.Allotments;
import dev.sandglass.egress.tunnel.Backlog;
import dev.sandglass.egress.tunnel.Limits;
import dev.sandglass.egress.tunnel.Tunnels;
import java.util.Set;
import java.util.function.LongSupplier;

/** What all connections of a proxy share. */
public record ProxyContext(
        ClientAdmission admission,
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
