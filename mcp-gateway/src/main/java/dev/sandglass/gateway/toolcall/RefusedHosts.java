package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.egress.UnreachedHost.Denied;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/** Tells with why a server does not run which hosts its pod asked for meanwhile and did not reach. */
final class RefusedHosts {

    /** Most hosts that are named for one reason; the server chose them. */
    static final int MOST_NAMED = 5;

    /** How long a failure waits for the egress proxy to tell of a host. */
    static final Duration PATIENCE = Duration.ofMillis(100);

    /** What a pod says of a server that did not start, or did not come back. */
    private static final Set<String> CODES = Set.of("mcp_start_failed", "mcp_timeout", CallProblem.NOT_RUNNING.word());

    private final DeniedHosts hosts;

    RefusedHosts(DeniedHosts hosts) {
        this.hosts = hosts;
    }

    /** The same attempt, whose failure names the hosts. */
    <T> Mono<T> named(RunningSandbox pod, SharedServer server, Mono<T> attempt) {
        return Mono.defer(() -> {
            long since = hosts.now();
            return attempt.onErrorResume(
                    failure -> LinkException.unwrap(failure) instanceof LinkException why && CODES.contains(why.code())
                            ? heard(pod, since).flatMap(heard -> Mono.error(with(why, server, heard)))
                            : Mono.error(failure));
        });
    }

    private Mono<List<UnreachedHost>> heard(RunningSandbox pod, long since) {
        Mono<List<UnreachedHost>> heard = Mono.fromSupplier(() -> hosts.since(pod.uid(), since));
        return hosts.isHearing() && !hosts.hasSince(pod.uid(), since)
                ? hosts.next(pod.uid(), PATIENCE).then(heard)
                : heard;
    }

    /** In front of the pod's own words, which may be long and are cut at their end. */
    private static LinkException with(LinkException why, SharedServer server, List<UnreachedHost> heard) {
        String told = told(server, heard);
        return told.isEmpty() ? why : new LinkException(why.kind(), why.code(), told + ". " + why.text());
    }

    /** Sentences without the last full stop; empty if all was reached. */
    private static String told(SharedServer server, List<UnreachedHost> heard) {
        var sentences = new ArrayList<String>();
        String pod = "the pod of MCP server '%s'".formatted(server.name());
        String unlisted = targets(heard, host -> host instanceof Denied denied && denied.opensByEntry());
        if (!unlisted.isEmpty()) {
            sentences.add("%s asked for %s and may not reach that: %s".formatted(pod, unlisted, advice(server)));
        }
        String closed = targets(heard, host -> host instanceof Denied denied && !denied.opensByEntry());
        if (!closed.isEmpty()) {
            sentences.add(
                    "%s asked for %s, which leads to an address that no sandbox may reach".formatted(pod, closed));
        }
        String failed = targets(heard, UnreachedHost.Failed.class::isInstance);
        if (!failed.isEmpty()) {
            sentences.add("%s may reach %s, and no connection came about".formatted(pod, failed));
        }
        return String.join(". ", sentences);
    }

    private static String advice(SharedServer server) {
        return server.ofAgent()
                ? "register it again with an 'allowed_domains' that lists this and all else that the server needs"
                : "an administrator adds it to spec.allowedDomains of SandboxToolServer "
                        + server.identity().resource();
    }

    private static String targets(List<UnreachedHost> heard, Predicate<UnreachedHost> which) {
        List<String> targets = heard.stream()
                .filter(which)
                .map(host -> "\"" + host.target() + "\"")
                .toList();
        String named = targets.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
        int more = targets.size() - MOST_NAMED;
        return more > 0 ? "%s and %d more".formatted(named, more) : named;
    }
}
