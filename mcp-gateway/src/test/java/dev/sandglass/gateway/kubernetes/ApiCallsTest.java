package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static SandboxProblem missing(@Nullable String kind, String message) {
        var status = new StatusBuilder().withCode(404).withMessage(message);
        if (kind != null) {
            status.withNewDetails().withKind(kind).endDetails();
        }
        return ApiCalls.problem(REF, new KubernetesClientException(status.build()));
    }

    /** The kinds are those of the API server's own answers. */
    @Test
    void whatIsNotThereIsToldApart() {
        assertThat(missing("sandboxes", "sandboxes.sandglass.dev \"demo\" not found"))
                .isInstanceOf(SandboxProblem.NotFound.class);
        assertThat(missing("namespaces", "namespaces \"sandglass-default\" not found"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage(
                        "Namespace 'sandglass-default' of tenant 'default' does not exist in the cluster. Ask whoever"
                                + " runs this installation.");
        assertThat(missing(null, "404 page not found"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage("The cluster does not know the resource Sandbox: 404 page not found. Ask whoever runs this"
                        + " installation.");
        assertThat(missing("", "the server could not find the requested resource"))
                .isInstanceOf(SandboxProblem.Refused.class);
    }

    @Test
    void aLongRefusalIsCut() {
        assertThat(answer(403, "x".repeat(501))).hasMessageEndingWith(" " + "x".repeat(500) + "…");
        assertThat(answer(403, "x".repeat(500))).hasMessageEndingWith(" " + "x".repeat(500));
    }

    /** Fails so often, each time with that code, and notes what became of it. */
    private static final class Background implements Runnable {
        final AtomicInteger attempts = new AtomicInteger();
        final AtomicBoolean givenUp = new AtomicBoolean();
        private final int failures;
        private final int code;

        Background(int failures, int code) {
            this.failures = failures;
            this.code = code;
        }

        @Override
        public void run() {
            if (attempts.incrementAndGet() <= failures) {
                throw new KubernetesClientException("no", code, null);
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {0, 409, 429, 500, 503})
    void whatTheApiServerMayTakeInAMomentIsTriedAgain(int code) {
        try (ApiCalls calls = new ApiCalls()) {
            Background work = new Background(2, code);
            calls.later(work, () -> work.givenUp.set(true));
            await().until(() -> work.attempts.get() == 3);
            assertThat(work.givenUp).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404, 422})
    void whatItWillNotTakeIsGivenUp(int code) {
        try (ApiCalls calls = new ApiCalls()) {
            Background work = new Background(1, code);
            calls.later(work, () -> work.givenUp.set(true));
            await().untilTrue(work.givenUp);
            assertThat(work.attempts).hasValue(1);
        }
    }
}
