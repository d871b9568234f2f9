package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SandboxJsonTest {

    private static final String HEAD = """
            apiVersion: sandglass.dev/v1alpha1
            kind: Sandbox
            metadata:
              name: demo
            """;

    private static Sandbox parse(String rest) {
        return TestResources.parse(HEAD + rest, Sandbox.class);
    }

    @Test
    void everyFieldSurvivesTheRoundTrip() {
        Condition ready = new ConditionBuilder()
                .withType("Ready")
                .withStatus("True")
                .withReason("Running")
                .withMessage("The sandbox runs")
                .withLastTransitionTime("2026-03-01T10:00:00Z")
                .withObservedGeneration(3L)
                .build();
        Sandbox sandbox = parse("");
        sandbox.setSpec(new SandboxSpec(
                "registry.example.com/x:1",
                new Quantity("1Gi"),
                new Quantity("500m"),
                new Quantity("4Gi"),
                List.of(new EnvVariable("A", "1"), new EnvVariable("B", "")),
                List.of(
                        Volume.ofClaim("data", "/data", false, "shared"),
                        new Volume("words", "/words", null, null, new Volume.ConfigMap("words"), null, null),
                        new Volume("key", "/key", true, null, null, new Volume.Secret("mountable-key"), null),
                        new Volume("scratch", "/scratch", null, null, null, null, new Volume.EmptyDir(null))),
                new Workspace(new Quantity("5Gi"), "fast", true),
                List.of(new SandboxPort("web", 8000), new SandboxPort(null, 9000)),
                List.of("*.example.com", "192.0.2.0/24:5432"),
                "gvisor",
                "5m",
                "1h30m",
                "90s",
                true));
        sandbox.setStatus(new SandboxStatus(
                3L, List.of(ready), "10.1.2.3", "sbx-u-2", 2, "2026-03-01T10:00:00Z", "a", "b", 1, "Crashed", "Idle"));

        Sandbox read = TestResources.parse(TestResources.json(sandbox), Sandbox.class);

        assertThat(read.getSpec()).isEqualTo(sandbox.getSpec());
        assertThat(read.getStatus()).isEqualTo(sandbox.getStatus());
    }

    @Test
    void whatIsAbsentTakesTheDefaults() {
        SandboxSpec spec = parse("spec: {}").getSpec();
        assertThat(spec).isEqualTo(SandboxSpec.DEFAULT);
        assertThat(spec.memory()).isEqualTo(new Quantity("512Mi"));
        assertThat(spec.env()).isEmpty();
        assertThat(spec.ports()).isEmpty();
        assertThat(spec.allowedDomains()).isNull();
        assertThat(parse("").wanted()).isEqualTo(SandboxSpec.DEFAULT);
        assertThat(parse("").observed()).isEqualTo(SandboxStatus.UNSEEN);
    }

    @Test
    void eachFieldIsSetForItself() {
        SandboxSpec spec = SandboxSpec.DEFAULT
                .withRetention("3h")
                .withMaxLifetime("2h")
                .withIdleTimeout("1h")
                .withRuntimeClassName("gvisor")
                .withAllowedDomains(List.of("example.com"))
                .withSuspended(true);
        assertThat(spec)
                .isEqualTo(new SandboxSpec(
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        List.of("example.com"),
                        "gvisor",
                        "1h",
                        "2h",
                        "3h",
                        true));
    }

    @Test
    void aVolumeIsReadOnlyUnlessItSaysOtherwiseButScratchRoomIsNot() {
        List<Volume> volumes = parse("""
                spec:
                  volumes:
                    - {name: a, mountPath: /a, persistentVolumeClaim: {claimName: c}}
                    - {name: b, mountPath: /b, persistentVolumeClaim: {claimName: c}, readOnly: false}
                    - {name: c, mountPath: /c, emptyDir: {}}
                """).wanted().volumes();
        assertThat(volumes).extracting(Volume::onlyReads).containsExactly(true, false, false);
    }

    @Test
    void whatALaterVersionAddsIsNoError() {
        Sandbox sandbox = parse("""
                spec:
                  later: {a: 1}
                  env: [{name: A, value: b, kind: later}]
                  ports: [{port: 8000, protocol: later}]
                status:
                  later: true
                  startedAt: 2026-03-01T10:00:00Z
                  conditions: [{type: Ready, status: "False", reason: Later}]
                """);
        assertThat(sandbox.wanted().environment()).containsEntry("A", "b");
        assertThat(sandbox.observed().reason(ConditionType.READY)).isEmpty();
        assertThat(sandbox.observed().holds(ConditionType.READY)).isFalse();
        assertThat(sandbox.observed().startedAt()).isEqualTo("2026-03-01T10:00:00Z");
        assertThat(sandbox.observed().lost()).isNull();
    }

    @Test
    void nothingIsWrittenThatWasNotSaid() {
        assertThat(TestResources.json(SandboxStatus.UNSEEN)).isEqualTo("{}");
        assertThat(TestResources.json(SandboxSpec.DEFAULT))
                .isEqualTo("{\"memory\":\"512Mi\",\"cpus\":\"1\",\"disk\":\"2Gi\",\"suspended\":false}");
    }

    /** The one is no network, the other the installation's list. */
    @Test
    void anEmptyListOfDomainsIsNotTheSameAsNoneOnTheWayThereAndBack() {
        SandboxSpec closed = SandboxSpec.DEFAULT.withAllowedDomains(List.of());
        assertThat(TestResources.json(closed)).contains("\"allowedDomains\":[]");
        assertThat(parse("spec: {allowedDomains: []}").getSpec())
                .isEqualTo(closed)
                .isNotEqualTo(SandboxSpec.DEFAULT);
        assertThat(parse("spec: {allowedDomains: null}").getSpec()).isEqualTo(SandboxSpec.DEFAULT);
        assertThat(closed.withSuspended(true).allowedDomains()).isEmpty();
        assertThat(closed.withAllowedDomains(null)).isEqualTo(SandboxSpec.DEFAULT);
    }

    @Test
    void aPortWithoutNameIsWrittenWithoutOne() {
        assertThat(TestResources.json(SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort(null, 8000)))))
                .contains("\"ports\":[{\"port\":8000}]");
        assertThat(SandboxSpec.DEFAULT
                        .withPorts(List.of(new SandboxPort("web", 8000)))
                        .withSuspended(true)
                        .ports())
                .containsExactly(new SandboxPort("web", 8000));
    }

    @Test
    void numbersAndTextsAreTheSameQuantity() {
        assertThat(parse("spec: {cpus: 1, memory: 1024Mi}").getSpec())
                .isEqualTo(parse("spec: {cpus: \"1\", memory: 1Gi}").getSpec());
    }

    @Test
    void reasonsAreFoundByTheirText() {
        assertThat(Reason.of("OOMKilled")).isEqualTo(Optional.of(Reason.OOM_KILLED));
        assertThat(Reason.of("oomkilled")).isEmpty();
    }
}
