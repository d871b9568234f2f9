package dev.sandglass.operator.child;

import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodDNSConfig;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whether a seat is what would be made for a sandbox instead, by what both pods say of themselves: a pool's template, or the
 * installation's settings, may have changed since the seat was made. The API server and webhooks complete a seat, so that
 * it may say more.
 */
public enum SeatFit {
    FITS,
    /** It was made from another template, with other settings, or too long ago. */
    OUTDATED,
    /** It tries to reach other addresses in vain than a pod of the sandbox would, whose list may open some of them. */
    OTHER_PROBE;

    private static final Set<String> PROBE = Set.of("SANDGLASS_CLOSED_ADDRESSES", "SANDGLASS_REQUIRE_CLOSED");

    /** In these a seat and a cold pod differ by their nature. */
    private static final Set<String> IDENTITY = Set.of(
            "SANDGLASS_SANDBOX_UID",
            "SANDGLASS_INCARNATION",
            "SANDGLASS_ENV",
            "SANDGLASS_REPLACED",
            "SANDGLASS_SEAT",
            "SANDGLASS_SEAT_LANGUAGES");

    /** Whose variables are the supervisor's settings, so that a seat must have no others. */
    private static final String OURS = "SANDGLASS_";

    /**
     * How a seat compares.
     *
     * @param cold the pod that would be made for the sandbox
     */
    public static SeatFit of(Pod seat, Pod cold, Instant now) {
        Optional<Container> has = SandboxContainer.container(seat);
        Container wanted = SandboxContainer.container(cold).orElseThrow();
        if (has.isEmpty() || !sameShape(seat.getSpec(), has.get(), cold.getSpec(), wanted)) {
            return OUTDATED;
        }
        Map<String, String> present = variables(has.get());
        Map<String, String> desired = variables(wanted);
        if (!says(present, desired) || !ClaimedPod.outlives(seat, cold, now)) {
            return OUTDATED;
        }
        return PROBE.stream().allMatch(name -> Objects.equals(present.get(name), desired.get(name)))
                ? FITS
                : OTHER_PROBE;
    }

    private static boolean sameShape(PodSpec seat, Container has, PodSpec cold, Container wanted) {
        return Objects.equals(has.getImage(), wanted.getImage())
                && amounts(has).equals(amounts(wanted))
                && Objects.equals(seat.getRuntimeClassName(), cold.getRuntimeClassName())
                && nameservers(seat).equals(nameservers(cold));
    }

    private static Map<String, BigDecimal> amounts(Container container) {
        Map<String, Quantity> limits = Optional.ofNullable(container.getResources())
                .map(resources -> resources.getLimits())
                .orElse(Map.of());
        return limits.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, limit -> limit.getValue()
                .getNumericalAmount()
                .stripTrailingZeros()));
    }

    private static List<String> nameservers(PodSpec spec) {
        return Optional.ofNullable(spec.getDnsConfig())
                .map(PodDNSConfig::getNameservers)
                .orElse(List.of());
    }

    /** Those with a value of their own: the others come from the Secret of the pod. */
    private static Map<String, String> variables(Container container) {
        Map<String, String> variables = new HashMap<>();
        for (EnvVar variable : container.getEnv()) {
            if (variable.getValueFrom() == null && !IDENTITY.contains(variable.getName())) {
                variables.put(variable.getName(), Objects.requireNonNullElse(variable.getValue(), ""));
            }
        }
        return variables;
    }

    private static boolean says(Map<String, String> present, Map<String, String> desired) {
        return desired.entrySet().stream()
                        .filter(wanted -> !PROBE.contains(wanted.getKey()))
                        .allMatch(wanted -> wanted.getValue().equals(present.get(wanted.getKey())))
                && present.keySet().stream()
                        .filter(name -> name.startsWith(OURS) && !PROBE.contains(name))
                        .allMatch(desired::containsKey);
    }
}
