package dev.sandglass.gateway.port;

import dev.sandglass.gateway.port.message.PortProblem;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.HashMap;
import java.util.Map;

/** Counts open connections, so that no sandbox takes the place of the others, and no tenant that of others. Thread-safe. */
final class ConnectionQuota {

    private final PortSettings settings;
    private final Map<String, Integer> ofSandboxes = new HashMap<>();
    private final Map<String, Integer> ofTenants = new HashMap<>();
    private int all;

    ConnectionQuota(PortSettings settings) {
        this.settings = settings;
    }

    /** Takes a place; {@link PortProblem} if there is none. */
    synchronized void take(RunningSandbox sandbox) {
        check(ofSandboxes.getOrDefault(sandbox.uid(), 0), settings.maxConnectionsPerSandbox(), "This sandbox has");
        check(
                ofTenants.getOrDefault(sandbox.ref().tenant(), 0),
                settings.maxConnectionsPerTenant(),
                "The sandboxes of this tenant have, on this replica,");
        check(all, settings.maxConnections(), "All sandboxes have, on this replica,");
        ofSandboxes.merge(sandbox.uid(), 1, Integer::sum);
        ofTenants.merge(sandbox.ref().tenant(), 1, Integer::sum);
        all++;
    }

    private static void check(int open, int most, String whose) {
        if (open >= most) {
            throw PortProblem.unavailable(
                    "%s %d open connections, the most. Close some, or try again later.".formatted(whose, most));
        }
    }

    /** Gives a place back. */
    synchronized void free(RunningSandbox sandbox) {
        free(ofSandboxes, sandbox.uid());
        free(ofTenants, sandbox.ref().tenant());
        all--;
    }

    private static void free(Map<String, Integer> open, String owner) {
        open.computeIfPresent(owner, (same, count) -> count == 1 ? null : count - 1);
    }

    synchronized int open() {
        return all;
    }
}
