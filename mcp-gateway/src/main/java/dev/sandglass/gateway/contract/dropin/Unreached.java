package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.gateway.egress.UnreachedHost;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Targets that code did not reach, in words that name the URL's setting and no tool. */
public final class Unreached {

    private Unreached() {}

    /** A sentence for each reason; empty if all was reached. */
    public static Optional<String> told(List<UnreachedHost> hosts) {
        String denied = named(hosts, host -> host instanceof UnreachedHost.Denied one && one.opensByEntry());
        String closed = named(hosts, host -> host instanceof UnreachedHost.Denied one && !one.opensByEntry());
        String failed = named(hosts, UnreachedHost.Failed.class::isInstance);
        String told = List.of(
                        denied.isEmpty()
                                ? ""
                                : "The code asked for %s: not among the 'allowed_domains' of this sandbox."
                                        .formatted(denied),
                        closed.isEmpty() ? "" : "The code asked for %s: no sandbox may reach that.".formatted(closed),
                        failed.isEmpty() ? "" : "Allowed, but not reached: %s.".formatted(failed))
                .stream()
                .filter(sentence -> !sentence.isEmpty())
                .collect(Collectors.joining(" "));
        return told.isEmpty() ? Optional.empty() : Optional.of(told);
    }

    private static String named(List<UnreachedHost> hosts, Predicate<UnreachedHost> which) {
        return hosts.stream()
                .filter(which)
                .map(host -> "\"" + host.target() + "\"")
                .collect(Collectors.joining(", "));
    }
}
