package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.egress.UnreachedHost.Denied;
import dev.sandglass.gateway.egress.UnreachedHost.Failed;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Targets that the code did not reach, as an answer reports them.
 *
 * @param hosts oldest first
 */
record NetworkNotice(List<UnreachedHost> hosts) {

    static final NetworkNotice NONE = new NetworkNotice(List.of());

    /** Those that are refused. */
    List<String> targets() {
        return of(Denied.class).map(Denied::target).toList();
    }

    /**
     * For the model: which hosts, in quotes, for code chose their names; null if none. It advises nothing: what a sandbox
     * may reach is its caller's decision.
     */
    @Nullable
    String notice() {
        var sentences = new ArrayList<String>();
        String unlisted = denied(true);
        if (!unlisted.isEmpty()) {
            sentences.add("The code asked for %s: not in this sandbox's 'allowed_domains' (sandbox_start)."
                    .formatted(unlisted));
        }
        String closed = denied(false);
        if (!closed.isEmpty()) {
            sentences.add("The code asked for %s: that leads to an address that no sandbox may reach, and no entry of"
                            .formatted(closed)
                    + " 'allowed_domains' opens it.");
        }
        String failed = failures();
        if (!failed.isEmpty()) {
            sentences.add(("Allowed, but not reached: %s. 'allowed_domains' need no change for that; the host, its port"
                            + " or its server is the cause.")
                    .formatted(failed));
        }
        return sentences.isEmpty() ? null : "[network] " + String.join(" ", sentences);
    }

    private String denied(boolean byEntry) {
        return of(Denied.class)
                .filter(host -> host.opensByEntry() == byEntry)
                .map(NetworkNotice::named)
                .collect(Collectors.joining(", "));
    }

    /** Those with the same cause together, so that many dead hosts do not fill the answer with one sentence. */
    private String failures() {
        Map<String, List<String>> targetsByCause = of(Failed.class)
                .collect(Collectors.groupingBy(
                        Failed::why,
                        LinkedHashMap::new,
                        Collectors.mapping(NetworkNotice::named, Collectors.toList())));
        return targetsByCause.entrySet().stream()
                .map(cause -> "%s (%s)".formatted(String.join(", ", cause.getValue()), cause.getKey()))
                .collect(Collectors.joining("; "));
    }

    private static String named(UnreachedHost host) {
        return "\"" + host.target() + "\"";
    }

    private <T extends UnreachedHost> Stream<T> of(Class<T> kind) {
        return hosts.stream().filter(kind::isInstance).map(kind::cast);
    }
}
