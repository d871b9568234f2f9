package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.egress.UnreachedHost.Denied;
import dev.sandglass.gateway.egress.UnreachedHost.Failed;
import dev.sandglass.gateway.execution.ExecutionError;
import dev.sandglass.gateway.execution.ExecutionResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What a sandbox did not reach, for the answer of a call: what is refused, and what is allowed and failed. It is nearly
 * always known before the code that met it has ended; only if that code complains of a proxy and nothing is known, the
 * answer waits a moment for it.
 */
final class DeniedNotice {

    /** Longest that an answer waits. */
    static final Duration PATIENCE = Duration.ofMillis(100);

    private static final List<String> HINTS = List.of(
            "403", "Forbidden", "forbidden", "502", "Bad Gateway", "refused this request", "not reach this host");

    /**
     * Targets that were not reached.
     *
     * @param hosts oldest first
     * @param since when the call began, on the clock of the hosts
     */
    record Told(List<UnreachedHost> hosts, long since) {

        static final Told NONE = new Told(List.of(), 0);

        /** Those that are refused. */
        List<String> targets() {
            return of(Denied.class).map(Denied::target).toList();
        }

        /** For the model: which, and what to do; null if none. */
        @Nullable
        String notice() {
            var sentences = new ArrayList<String>();
            String during = targets(true, true);
            String before = targets(true, false);
            if (!during.isEmpty()) {
                sentences.add("The network refused: %s.".formatted(during));
            }
            if (!before.isEmpty()) {
                sentences.add("Before this call it refused: %s.".formatted(before));
            }
            if (!sentences.isEmpty()) {
                sentences.add(
                        "To reach it, call sandbox_start for this sandbox with 'allowed_domains' in 'config' that"
                                + " lists it besides what is allowed now (spec.allowedDomains of the resource); it counts at once.");
            }
            String closed = String.join(
                    ", ",
                    Stream.of(targets(false, true), targets(false, false))
                            .filter(text -> !text.isEmpty())
                            .toList());
            if (!closed.isEmpty()) {
                sentences.add(
                        "Refused because it leads to an address that no sandbox may reach: %s. No entry opens it; only"
                                        .formatted(closed)
                                + " whoever runs this installation can.");
            }
            sentences.addAll(failures());
            return sentences.isEmpty() ? null : "[network] " + String.join(" ", sentences);
        }

        private String targets(boolean byEntry, boolean during) {
            return String.join(
                    ", ",
                    of(Denied.class)
                            .filter(host -> host.opensByEntry() == byEntry && isDuring(host) == during)
                            .map(Denied::target)
                            .toList());
        }

        private List<String> failures() {
            var sentences = new ArrayList<String>();
            String during = failures(true);
            String before = failures(false);
            if (!during.isEmpty()) {
                sentences.add("Allowed, but not reached: %s.".formatted(during));
            }
            if (!before.isEmpty()) {
                sentences.add("Allowed, but not reached before this call: %s.".formatted(before));
            }
            if (!sentences.isEmpty()) {
                sentences.add("Check host and port, or try again later; 'allowed_domains' need no change for that.");
            }
            return sentences;
        }

        /** Those with the same cause together, so that many dead hosts do not fill the answer with one sentence. */
        private String failures(boolean during) {
            Map<String, List<String>> targetsByCause = of(Failed.class)
                    .filter(host -> isDuring(host) == during)
                    .collect(Collectors.groupingBy(
                            Failed::why, LinkedHashMap::new, Collectors.mapping(Failed::target, Collectors.toList())));
            return targetsByCause.entrySet().stream()
                    .map(cause -> "%s (%s)".formatted(String.join(", ", cause.getValue()), cause.getKey()))
                    .collect(Collectors.joining("; "));
        }

        private boolean isDuring(UnreachedHost host) {
            return host.nanos() - since >= 0;
        }

        private <T extends UnreachedHost> Stream<T> of(Class<T> kind) {
            return hosts.stream().filter(kind::isInstance).map(kind::cast);
        }
    }

    private final DeniedHosts hosts;

    DeniedNotice(DeniedHosts hosts) {
        this.hosts = hosts;
    }

    long now() {
        return hosts.now();
    }

    /** What to tell of that sandbox with that result, of a call that began then. */
    Mono<Told> told(String sandboxUid, ExecutionResult result, long since) {
        boolean late = hosts.isHearing() && !hosts.hasSince(sandboxUid, since) && complainsOfAProxy(result);
        return late
                ? hosts.next(sandboxUid, PATIENCE).then(Mono.fromSupplier(() -> taken(sandboxUid, since)))
                : Mono.just(taken(sandboxUid, since));
    }

    private Told taken(String sandboxUid, long since) {
        List<UnreachedHost> taken = hosts.take(sandboxUid);
        return taken.isEmpty() ? Told.NONE : new Told(taken, since);
    }

    /** As curl, pip, git, Node and others word it; of a result that mentions none of it, nobody waits. */
    static boolean complainsOfAProxy(ExecutionResult result) {
        ExecutionError error = result.error();
        return Stream.of(
                        result.stderr(),
                        result.stdout(),
                        error == null ? "" : error.message(),
                        error == null ? "" : error.traceback())
                .anyMatch(DeniedNotice::complains);
    }

    private static boolean complains(String text) {
        if (HINTS.stream().noneMatch(text::contains)) {
            return false;
        }
        String lower = text.toLowerCase(Locale.ROOT);
        return lower.contains("proxy") || lower.contains("tunnel");
    }
}
