package dev.sandglass.operator.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.OperatorException;
import org.junit.jupiter.api.Test;

/** In which words the operator tells why it failed: somebody reads them in a condition, and as an Event. */
class ApiErrorsTest {

    @Test
    void whatTheApiServerSaysIsToldWithoutTheClientsAccountOfIt() {
        Status status = new StatusBuilder()
                .withCode(403)
                .withReason("Forbidden")
                .withMessage("networkpolicies \"some\" is forbidden: it selects others")
                .build();

        assertThat(ApiErrors.briefly(new OperatorException(new KubernetesClientException(status))))
                .isEqualTo("networkpolicies \"some\" is forbidden: it selects others");
    }

    @Test
    void everythingElseIsToldOnOneLineThatEnds() {
        assertThat(ApiErrors.briefly(new IllegalStateException("one\n\tother ")))
                .isEqualTo("one other");
        assertThat(ApiErrors.briefly(new IllegalStateException("x".repeat(5000))))
                .isEqualTo("x".repeat(500) + "…");
        assertThat(ApiErrors.briefly(new OperatorException(new IllegalStateException())))
                .isEqualTo("IllegalStateException");
    }
}
