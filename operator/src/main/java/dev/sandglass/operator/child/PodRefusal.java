package dev.sandglass.operator.child;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.api.VolumeRules;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.operator.pod.CodeVariables;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Optional;

/**
 * Why the operator makes no pod, in words for the sandbox's author.
 *
 * @param message names the field, what is wrong with it and what would be right
 * @param passing whether something is under way that may end it within seconds
 */
public record PodRefusal(Reason reason, String message, boolean passing) {

    /** One that stays until somebody acts, or has room. */
    public PodRefusal(Reason reason, String message) {
        this(reason, message, false);
    }

    /** The same after a seat was ended that takes up the room which the pod needs. */
    public PodRefusal withSeatEnding() {
        return new PodRefusal(Reason.STARTING, "A seat of a pool ends to make room for the pod; " + message, true);
    }

    /**
     * Checks what the schema cannot, and the bounds once more: a resource may be older than the schema's rules.
     *
     * @return empty if a pod may be made
     */
    public static Optional<PodRefusal> of(Sandbox sandbox, PodSettings settings) {
        String image = settings.images().resolve(sandbox.wanted().image());
        if (!settings.images().allows(image)) {
            return Optional.of(new PodRefusal(
                    Reason.IMAGE_FORBIDDEN,
                    "spec.image: " + image + " is not on this installation's list of allowed images; leave the field"
                            + " out to use " + settings.images().defaultImage()));
        }
        return runtimeClass(sandbox, settings).or(() -> invalid(sandbox)).or(() -> domains(sandbox, settings)
                .map(problem -> new PodRefusal(Reason.INVALID_SPEC, problem)));
    }

    private static Optional<PodRefusal> runtimeClass(Sandbox sandbox, PodSettings settings) {
        return settings.runtimeClasses()
                .problem(sandbox.wanted().runtimeClassName())
                .map(problem -> new PodRefusal(Reason.RUNTIME_CLASS_FORBIDDEN, "spec.runtimeClassName: " + problem));
    }

    private static Optional<PodRefusal> invalid(Sandbox sandbox) {
        return outOfBounds("memory", sandbox.wanted().memory(), 64L << 20)
                .or(() -> outOfBounds("disk", sandbox.wanted().disk(), 64L << 20))
                .or(() -> timeLimits(sandbox.wanted()))
                .or(() -> VolumeRules.problem(
                                sandbox.wanted().volumes(), sandbox.wanted().disk())
                        .map(problem -> "spec.volumes: " + problem))
                .or(() -> CodeVariables.problem(sandbox.wanted().environment()).map(problem -> "spec.env: " + problem))
                .map(message -> new PodRefusal(Reason.INVALID_SPEC, message));
    }

    /** A list that is right has no effect without an egress proxy, as the condition NetworkReady reports. */
    private static Optional<String> domains(Sandbox sandbox, PodSettings settings) {
        return settings.egress().map(egress -> egress.problem(sandbox)).orElseGet(() -> Optional.ofNullable(
                        sandbox.wanted().allowedDomains())
                .flatMap(EgressRules::problem)
                .map(problem -> "spec." + problem));
    }

    private static Optional<String> timeLimits(SandboxSpec spec) {
        return Arrays.stream(TimeLimit.values())
                .flatMap(limit -> Optional.ofNullable(limit.textIn(spec))
                        .flatMap(limit::problem)
                        .map(problem -> "spec." + limit.field() + " " + problem)
                        .stream())
                .findFirst();
    }

    private static Optional<String> outOfBounds(String field, Quantity value, long leastBytes) {
        return value.getNumericalAmount().compareTo(BigDecimal.valueOf(leastBytes)) < 0
                ? Optional.of("spec." + field + ": " + value + " is less than the " + (leastBytes >> 20)
                        + "Mi a sandbox" + " needs")
                : Optional.empty();
    }
}
