package dev.sandglass.api.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools on their way to JSON and back. */
class PoolJsonTest {

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    private static SandboxPool parse(String rest) {
        return SERIALIZATION.unmarshal("""
                apiVersion: sandglass.dev/v1alpha1
                kind: SandboxPool
                metadata:
                  name: warm
                """ + rest, SandboxPool.class);
    }

    @Test
    void everyFieldSurvivesTheRoundTrip() {
        Condition progressing = new ConditionBuilder()
                .withType("Progressing")
                .withStatus("False")
                .withReason("QuotaExceeded")
                .withMessage("No room")
                .withLastTransitionTime("2026-03-01T10:00:00Z")
                .withObservedGeneration(3L)
                .build();
        SandboxPool pool = parse("");
        pool.setSpec(new SandboxPoolSpec(
                7,
                new PoolTemplate(
                        "registry.example.com/x:1",
                        new Quantity("1Gi"),
                        new Quantity("500m"),
                        new Quantity("4Gi"),
                        "gvisor"),
                List.of("javascript", "python")));
        pool.setStatus(new SandboxPoolStatus(3L, 6, 5, 4, "sandglass.dev/pool=warm", List.of(progressing)));

        SandboxPool read = SERIALIZATION.unmarshal(SERIALIZATION.asJson(pool), SandboxPool.class);

        assertThat(read.getSpec()).isEqualTo(pool.getSpec());
        assertThat(read.getStatus()).isEqualTo(pool.getStatus());
        assertThat(read.observed().condition(PoolCondition.PROGRESSING)).hasValue(progressing);
        assertThat(read.observed().condition(PoolCondition.AVAILABLE)).isEmpty();
    }

    @Test
    void whatIsAbsentTakesTheDefaults() {
        assertThat(parse("").wanted()).isEqualTo(SandboxPoolSpec.DEFAULT);
        assertThat(parse("").observed()).isEqualTo(SandboxPoolStatus.UNSEEN);
        SandboxPoolSpec spec = parse("spec: {replicas: 2}").wanted();
        assertThat(spec).isEqualTo(new SandboxPoolSpec(2, PoolTemplate.DEFAULT, List.of("python")));
        assertThat(spec.template().memory()).isEqualTo(new Quantity("512Mi"));
    }

    /** None is another wish than the default. */
    @Test
    void noLanguagesAreKeptOnTheWayThereAndBack() {
        SandboxPool pool = parse("spec: {replicas: 1, languages: []}");
        assertThat(pool.wanted().languages()).isEmpty();
        assertThat(SERIALIZATION.asJson(pool.getSpec())).contains("\"languages\":[]");
    }

    @Test
    void numbersOfAStatusAreWrittenAlsoIfTheyAreZero() {
        assertThat(SERIALIZATION.asJson(SandboxPoolStatus.UNSEEN))
                .isEqualTo("{\"replicas\":0,\"readyReplicas\":0,\"updatedReplicas\":0}");
    }

    @Test
    void whatALaterVersionAddsIsNoError() {
        SandboxPool pool = parse("""
                spec: {replicas: 1, later: true, template: {later: 1}}
                status: {later: true, replicas: 1}
                """);
        assertThat(pool.wanted().replicas()).isEqualTo(1);
        assertThat(pool.observed().replicas()).isEqualTo(1);
    }
}
