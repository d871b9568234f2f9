package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The condition, an Event and the answer to the agent name the same cause for which a sandbox cannot start. */
@Isolated("it gives the tenant a quota")
class CausesE2E {

    private static final Duration SOON = Duration.ofMinutes(2);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** Why a sandbox cannot start, and words of the condition that stay the same while Kubernetes tries again. */
    enum Cause {
        ABSENT_IMAGE(Reason.IMAGE_PULL_FAILED, "The node cannot pull the image registry.example.com/agents/absent:1"),
        MISSING_CLAIM(Reason.VOLUME_MISSING, "nowhere"),
        UNKNOWN_RUNTIME(Reason.POD_REFUSED, "nothing-like-it"),
        TOO_LARGE(Reason.UNSCHEDULABLE, "Insufficient memory");

        private final Reason reason;
        private final String words;

        Cause(Reason reason, String words) {
            this.reason = reason;
            this.words = words;
        }

        /** Words of the answer, which names the scarce resource where the condition quotes the scheduler. */
        private String answer() {
            return this == TOO_LARGE
                    ? "it requests too much memory; call sandbox_start with less 'memory', 'cpus' or 'disk' in 'config'"
                    : words;
        }

        private SandboxSpec spec() {
            return switch (this) {
                case ABSENT_IMAGE ->
                    new SandboxSpec("registry.example.com/agents/absent:1", null, null, null, null, false);
                case MISSING_CLAIM ->
                    SandboxSpec.DEFAULT.withVolumes(
                            List.of(new Volume("data", "/data", null, new Volume.Claim("nowhere"), null, null, null)));
                case UNKNOWN_RUNTIME -> SandboxSpec.DEFAULT.withRuntimeClassName("nothing-like-it");
                case TOO_LARGE -> new SandboxSpec(null, new Quantity("1Ti"), null, null, null, false);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSandboxThatCannotStartHasOneCauseInConditionEventAndAnswer(Cause cause) {
        agree(applied(SANDBOXES.name(), cause.spec()), cause.reason, cause.words, cause.answer());
    }

    @Test
    void aSandboxBeyondAQuotaHasOneCauseAndStartsOnceTheQuotaIsGone() {
        var quota = TENANT.kubernetes()
                .resource(new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName("no-pods")
                        .withNamespace(Tenant.NAMESPACE)
                        .endMetadata()
                        .withNewSpec()
                        .addToHard("count/pods", new Quantity("0"))
                        .endSpec()
                        .build());
        String name = SANDBOXES.name();
        try {
            quota.create();
            // Before it is counted for the first time, it refuses with other words.
            quota.waitUntilCondition(
                    now -> !now.getStatus().getHard().isEmpty(), SOON.toMillis(), TimeUnit.MILLISECONDS);
            agree(
                    applied(name, SandboxSpec.DEFAULT),
                    Reason.QUOTA_EXCEEDED,
                    "exceeded quota: no-pods",
                    "exceeded quota: no-pods");
        } finally {
            quota.delete();
        }
        TENANT.resource(name)
                .waitUntilCondition(
                        now -> now.observed().holds(ConditionType.READY), SOON.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(SANDBOXES.bringUp(name).failed()).isFalse();
    }

    private void agree(Sandbox sandbox, Reason reason, String words, String answerWords) {
        String name = sandbox.getMetadata().getName();
        Condition ready = TENANT.resource(name)
                .waitUntilCondition(
                        now -> now != null
                                && now.observed()
                                        .reason(ConditionType.READY)
                                        .filter(reason::equals)
                                        .isPresent(),
                        SOON.toMillis(),
                        TimeUnit.MILLISECONDS)
                .observed()
                .condition(ConditionType.READY)
                .orElseThrow();
        String answer = agent.refusal("sandbox_start", Map.of("sandbox", name));

        assertThat(ready.getMessage()).contains(words);
        assertThat(answer).contains("(" + reason.value() + ")", answerWords).doesNotContain("preemption");
        await("the Event").atMost(SOON).until(() -> TENANT.isTold(sandbox, reason, words));
    }

    private static Sandbox applied(String name, SandboxSpec spec) {
        var sandbox = new Sandbox();
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
        sandbox.setSpec(spec);
        return TENANT.kubernetes().resource(sandbox).create();
    }
}
