package dev.sandglass.egress.name;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Turns names into addresses. Asked for names only that are allowed. */
@FunctionalInterface
public interface Names {

    /**
     * Looks a name up.
     *
     * @return its addresses, at least one; or fails with an exception whose message says why
     */
    CompletionStage<List<IpAddress>> lookup(HostName name);
}
