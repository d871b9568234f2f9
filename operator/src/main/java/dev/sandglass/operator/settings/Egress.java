package dev.sandglass.operator.settings;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.EgressRules;
import java.util.List;
import java.util.Optional;

/**
 * What the installation says about the way out of sandboxes, where it has an egress proxy.
 *
 * @param denied what stays closed, whatever a sandbox's list says
 * @param openPermitted whether the entry {@code *}, and ranges that come near it, count
 * @param splitDns whether the proxy also serves programs that know nothing of proxies
 * @param defaults what sandboxes without a list may reach
 */
public record Egress(DeniedRanges denied, boolean openPermitted, boolean splitDns, DefaultDomains defaults) {

    private static final String NOTHING = "spec.allowedDomains has no effect: ";
    private static final String NOT_ALL = "A part of spec.allowedDomains has no effect: ";

    /**
     * Says what of a sandbox's own list is not in force, and why, in a sentence without its full stop. One entry that is
     * wrong shuts the whole list, as {@link #rules} has it.
     *
     * @param egress empty if there is no egress proxy
     * @return empty if all of it is
     */
    public static Optional<String> ignored(Sandbox sandbox, Optional<Egress> egress) {
        List<String> own = sandbox.wanted().allowedDomains();
        if (own == null || own.isEmpty()) {
            return Optional.empty();
        }
        if (egress.isEmpty()) {
            return Optional.of(NOTHING + "this installation has no egress proxy, so sandboxes reach no host");
        }
        String part = EgressRules.problem(own).isPresent() ? NOTHING : NOT_ALL;
        return egress.get().problem(sandbox).map(why -> part + why);
    }

    /**
     * Says which part of a sandbox's own list cannot be in force, in a sentence without its full stop. The installation's
     * was checked at the start.
     *
     * @return empty if all of it can
     */
    public Optional<String> problem(Sandbox sandbox) {
        List<String> entries = sandbox.wanted().allowedDomains();
        if (entries == null) {
            return Optional.empty();
        }
        Optional<String> broken = EgressRules.problem(entries);
        if (broken.isPresent()) {
            return broken.map(problem -> "spec." + problem);
        }
        EgressRules list = EgressRules.parse(entries);
        if (!openPermitted && list.isOpenTogether()) {
            return Optional.of(
                    "spec.allowedDomains: its ranges open about as much together as '*', which this installation"
                            + " does not permit; name the hosts that are needed");
        }
        List<DomainRule> rules = list.rules();
        for (int i = 0; i < rules.size(); i++) {
            Optional<String> why = problem(rules.get(i));
            if (why.isPresent()) {
                return Optional.of("spec.allowedDomains[" + i + "]: " + why.get());
            }
        }
        return Optional.empty();
    }

    private Optional<String> problem(DomainRule rule) {
        if (rule.isOpen() && !openPermitted) {
            return Optional.of("this installation does not permit '*'"
                    + (rule instanceof DomainRule.Open ? "" : " and ranges as wide as '" + rule + "'")
                    + "; name the hosts that are needed");
        }
        return switch (rule) {
            case DomainRule.Open open -> Optional.empty();
            case DomainRule.Addresses addresses ->
                denied.reachable(addresses.range()).isEmpty()
                        ? Optional.of("'" + addresses + "' is not public ("
                                + denied.denying(addresses.range().first()).orElse("denied")
                                + "), and this installation does not open it")
                        : Optional.empty();
            case DomainRule.Exact exact -> Optional.empty();
            case DomainRule.Wildcard wildcard -> Optional.empty();
        };
    }

    /** What is in force of a sandbox's list, or of the installation's if it has none; nothing of one that is wrong. */
    public EgressRules rules(Sandbox sandbox) {
        List<String> entries = defaults.unlessGiven(sandbox.wanted().allowedDomains());
        if (EgressRules.problem(entries).isPresent()) {
            return EgressRules.NONE;
        }
        EgressRules rules = EgressRules.parse(entries);
        return openPermitted ? rules : rules.withoutOpen();
    }
}
