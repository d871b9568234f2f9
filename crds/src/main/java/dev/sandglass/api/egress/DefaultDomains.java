package dev.sandglass.api.egress;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The installation's list: what sandboxes without a list of their own may reach. Operator, egress proxy and gateway get
 * the same one at their start, and refuse to start with one that could not be in force.
 *
 * @param entries as they were written
 */
public record DefaultDomains(List<String> entries) {

    /** Of an installation that says nothing: no network for sandboxes without a list. */
    public static final DefaultDomains NONE = new DefaultDomains(List.of());

    /** Checks and copies the list. */
    public DefaultDomains {
        // Its sentences repeat the entry alone; those of EgressRules would name a field of a sandbox.
        entries.forEach(DomainRule::parse);
        EgressRules.parse(entries);
        entries = List.copyOf(entries);
    }

    /**
     * Reads a setting.
     *
     * @param text entries with commas between them
     * @param openPermitted whether the entry {@code *}, and ranges that come near it, count
     * @throws IllegalArgumentException with a sentence that names the bad entry
     */
    public static DefaultDomains parse(String text, boolean openPermitted) {
        DefaultDomains read = new DefaultDomains(Arrays.stream(text.split(",", -1))
                .map(String::strip)
                .filter(Predicate.not(String::isEmpty))
                .toList());
        List<DomainRule> permitted = read.rules().withoutOpen().rules();
        if (!openPermitted && read.rules().isOpenTogether()) {
            throw new IllegalArgumentException(
                    "its ranges open about as much together as '*', which counts only with egressProxy.permitOpen");
        }
        for (DomainRule rule : read.rules().rules()) {
            if (!openPermitted && !permitted.contains(rule)) {
                throw new IllegalArgumentException("'" + rule + "' counts only with egressProxy.permitOpen");
            }
        }
        return read;
    }

    /**
     * Reads a setting, and holds its addresses against what stays closed: one that no sandbox could reach is a mistake.
     *
     * @throws IllegalArgumentException with a sentence that names the bad entry
     */
    public static DefaultDomains parse(String text, boolean openPermitted, DeniedRanges denied) {
        DefaultDomains read = parse(text, openPermitted);
        for (DomainRule rule : read.rules().rules()) {
            if (rule instanceof DomainRule.Addresses addresses
                    && denied.reachable(addresses.range()).isEmpty()) {
                throw new IllegalArgumentException("'" + rule + "' is not public ("
                        + denied.denying(addresses.range().first()).orElse("denied")
                        + "), and egressProxy.allowedRanges does not open it");
            }
        }
        return read;
    }

    /** The list ready for verdicts. */
    public EgressRules rules() {
        return EgressRules.parse(entries);
    }

    /**
     * What counts for a sandbox.
     *
     * @param own its list, which counts alone if there is one, also if it is empty
     */
    public List<String> unlessGiven(@Nullable List<String> own) {
        return own == null ? entries : own;
    }
}
