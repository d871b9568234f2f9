package dev.sandglass.api.egress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The list {@code allowedDomains} of a sandbox, ready for verdicts. An empty list allows nothing. Names are found by
 * hash, so that a verdict takes as long with 64 entries as with one.
 */
public final class EgressRules {

    /** Most entries. */
    public static final int MAX_ENTRIES = 64;

    /** Allows nothing. */
    public static final EgressRules NONE = new EgressRules(List.of());

    private final List<DomainRule> rules;
    private final Map<HostName, List<DomainRule>> names = new HashMap<>();
    private final Map<String, List<DomainRule>> parents = new HashMap<>();
    private final List<DomainRule.Addresses> addresses = new ArrayList<>();
    private final List<DomainRule> open = new ArrayList<>();

    private EgressRules(List<DomainRule> rules) {
        this.rules = List.copyOf(rules);
        for (DomainRule rule : rules) {
            if (rule instanceof DomainRule.Exact exact) {
                names.computeIfAbsent(exact.name(), name -> new ArrayList<>()).add(rule);
            } else if (rule instanceof DomainRule.Wildcard wildcard) {
                parents.computeIfAbsent(wildcard.parent().value(), name -> new ArrayList<>())
                        .add(rule);
            } else if (rule instanceof DomainRule.Addresses range) {
                addresses.add(range);
            } else {
                open.add(rule);
            }
        }
    }

    /**
     * Reads a list.
     *
     * @throws IllegalArgumentException with a sentence that names the first bad entry and says how one is written
     */
    public static EgressRules parse(List<String> allowedDomains) {
        if (allowedDomains.size() > MAX_ENTRIES) {
            throw new IllegalArgumentException(
                    "at most " + MAX_ENTRIES + " domains can be allowed, not " + allowedDomains.size());
        }
        List<DomainRule> rules = new ArrayList<>();
        for (int i = 0; i < allowedDomains.size(); i++) {
            try {
                rules.add(DomainRule.parse(allowedDomains.get(i)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("allowedDomains[" + i + "]: " + e.getMessage(), e);
            }
        }
        return new EgressRules(rules);
    }

    /**
     * Says what is wrong with a list, in a sentence for its author.
     *
     * @return empty if nothing is wrong
     */
    public static Optional<String> problem(List<String> allowedDomains) {
        try {
            parse(allowedDomains);
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** The entries in their canonical form. */
    public List<DomainRule> rules() {
        return rules;
    }

    /** Whether {@code *} is among them, or a range that comes near it, or many that do together. */
    public boolean isOpen() {
        return rules.stream().anyMatch(DomainRule::isOpen) || isOpenTogether();
    }

    /**
     * Whether ranges, none of which comes near {@code *}, open as much together as one that does. A range counts once,
     * with however many ports, and IPv4 within IPv6 (NAT64, 6to4) counts as IPv4.
     */
    public boolean isOpenTogether() {
        return share(true) > 1 || share(false) > 1;
    }

    private double share(boolean four) {
        return addresses.stream()
                .filter(rule -> !rule.isOpen())
                .filter(rule -> rule.opensFour() == four)
                .collect(Collectors.toMap(DomainRule.Addresses::range, DomainRule.Addresses::share, Math::max))
                .values()
                .stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /**
     * The same without {@code *} and what comes near it, for installations that do not permit it; without any address if
     * the ranges come near it together.
     */
    public EgressRules withoutOpen() {
        return new EgressRules(rules.stream()
                .filter(rule -> !rule.isOpen())
                .filter(rule -> !(rule instanceof DomainRule.Addresses) || !isOpenTogether())
                .toList());
    }

    /** The verdict on a target, by its canonical form alone: nothing is looked up. */
    public Verdict decide(Target target) {
        boolean covered = false;
        for (DomainRule rule : covering(target.host())) {
            if (rule.permits(target.port())) {
                return new Verdict.Allowed(rule);
            }
            covered = true;
        }
        return new Verdict.Denied(covered ? Verdict.Why.PORT_NOT_LISTED : whyNot(target.host()));
    }

    private Verdict.Why whyNot(Host host) {
        if (rules.isEmpty()) {
            return Verdict.Why.NOTHING_ALLOWED;
        }
        return host instanceof Host.Name ? Verdict.Why.NAME_NOT_LISTED : Verdict.Why.ADDRESS_NOT_LISTED;
    }

    private List<DomainRule> covering(Host host) {
        List<DomainRule> found = new ArrayList<>();
        if (host instanceof Host.Name asked) {
            found.addAll(names.getOrDefault(asked.name(), List.of()));
            if (!parents.isEmpty()) {
                asked.name().parents().forEach(parent -> found.addAll(parents.getOrDefault(parent, List.of())));
            }
        } else {
            addresses.stream().filter(rule -> rule.covers(host)).forEach(found::add);
        }
        found.addAll(open);
        return found;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EgressRules same && same.rules.equals(rules);
    }

    @Override
    public int hashCode() {
        return rules.hashCode();
    }

    @Override
    public String toString() {
        return rules.toString();
    }
}
