package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.sandbox.Reach;
import java.util.stream.Collectors;

/** The hosts that a sandbox may reach: read from {@code config.allowed_domains} (contracts.md O3), and told. */
final class AllowedDomains {

    private static final int TOLD = 16;

    private AllowedDomains() {}

    static Schema schema() {
        return Schema.list(
                "Hosts its code may reach: 'example.com', '*.example.com' (names below it), '192.0.2.0/24', with ':8443' for"
                        + " other ports than 80 and 443. Replaces the whole list, at once; [] = no network",
                Schema.ofType("string"));
    }

    /** What may be reached now, for a model; empty if that is nothing and nobody asked. */
    static String told(Reach reach, boolean asked) {
        if (reach.allowed().isEmpty()) {
            return asked ? "In force now: the sandbox has no network." : "";
        }
        int more = reach.allowed().size() - TOLD;
        String hosts =
                reach.allowed().stream().limit(TOLD).map(ForeignText::name).collect(Collectors.joining(", "))
                        + (more > 0 ? " and %d more".formatted(more) : "");
        if (reach.ignored().isPresent()) {
            return "Its list of hosts is %s, and no other host may be reached. %s. To change the list, also while it runs, call sandbox_start with the whole new list in 'config.allowed_domains'."
                    .formatted(hosts, reach.ignored().get());
        }
        String since = reach.byDefault() ? "By the installation's default" : "As before,";
        return "%s its code may reach %s, and no other host. To change that, also while it runs, call sandbox_start with the whole new list in 'config.allowed_domains'."
                .formatted(asked ? "In force now:" : since, hosts);
    }
}
