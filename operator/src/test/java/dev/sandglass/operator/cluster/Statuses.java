package dev.sandglass.operator.cluster;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/** Sandboxes and statuses of which only the conditions matter. */
public final class Statuses {

    private Statuses() {}

    /** A status whose condition Ready has this reason. */
    public static SandboxStatus ready(String value, Reason reason, String message) {
        return SandboxStatus.UNSEEN.withConditions(List.of(condition(ConditionType.READY, value, reason, message)));
    }

    /** The same since that time. */
    public static SandboxStatus ready(String value, Reason reason, String message, Instant since) {
        Condition ready = condition(ConditionType.READY, value, reason, message);
        ready.setLastTransitionTime(since.toString());
        return SandboxStatus.UNSEEN.withConditions(List.of(ready));
    }

    /** The status of a sandbox that is suspended for this reason. */
    public static SandboxStatus suspended(Reason reason) {
        return SandboxStatus.UNSEEN.withConditions(List.of(
                condition(ConditionType.READY, "False", reason, "suspended"),
                condition(ConditionType.SUSPENDED, "True", reason, "suspended")));
    }

    /** The same with its policies in place. */
    public static SandboxStatus networked(SandboxStatus status) {
        return status.withConditions(Stream.concat(
                        status.conditions().stream(),
                        Stream.of(condition(ConditionType.NETWORK_READY, "True", Reason.POLICIES_APPLIED, "in place")))
                .toList());
    }

    private static Condition condition(ConditionType type, String value, Reason reason, String message) {
        return new ConditionBuilder()
                .withType(type.value())
                .withStatus(value)
                .withReason(reason.value())
                .withMessage(message)
                .withLastTransitionTime("2026-03-01T10:00:00Z")
                .build();
    }

    /** A sandbox of that name, its UID derived from it. */
    public static Sandbox sandbox(String namespace, String name, SandboxStatus status) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setNamespace(namespace);
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setUid("uid-" + name);
        sandbox.setStatus(status);
        return sandbox;
    }
}
