package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;

class ApiCallsTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "demo", "demo");

    private static SandboxProblem answer(int code, String message) {
        return ApiCalls.problem(
                REF,
                new KubernetesClientException(
                        new StatusBuilder().withCode(code).withMessage(message).build()));
    }

    @Test
    void whatAPolicyRefusesIsToldInItsOwnWordsAlone() {
        assertThat(answer(
                        422,
                        "sandboxes.sandglass.dev \"demo\" is forbidden: ValidatingAdmissionPolicy 's-sandboxes' with"
                                + " binding 's-sandboxes' denied request: spec.image: evil is not on the list"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage("The cluster refused sandbox 'demo': spec.image: evil is not on the list");
    }

    @Test
    void anotherRefusalIsToldAsItIs() {
        assertThat(answer(403, "namespace is being terminated"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage("The cluster refused sandbox 'demo': namespace is being terminated");
    }

    @Test
    void aRightThatTheGatewayLacksIsNoRefusalOfTheSandbox() {
        assertThat(answer(403, "sandboxes \"demo\" is forbidden: User \"g\" cannot get resource \"sandboxes\""))
                .isInstanceOf(SandboxProblem.Unavailable.class)
                .hasMessageStartingWith("The cluster's API does not take orders at the moment: it does not grant")
                .hasMessageContaining("cannot get resource")
                .hasMessageEndingWith("try again in some seconds.");
    }

    @Test
    void aLongRefusalIsCut() {
        assertThat(answer(403, "x".repeat(501))).hasMessageEndingWith(" " + "x".repeat(500) + "…");
        assertThat(answer(403, "x".repeat(500))).hasMessageEndingWith(" " + "x".repeat(500));
    }
}
