package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RightsTest {

    private static boolean lacked(int code, String message) {
        return Rights.lackedBy(new KubernetesClientException(
                new StatusBuilder().withCode(code).withMessage(message).build()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pods \"sbx-1\" is forbidden: User \"system:serviceaccount:a:b\" cannot create resource \"pods\" in API"
                        + " group \"\" in the namespace \"t\"",
                "pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" at the cluster scope: RBAC:"
                        + " clusterrole.rbac.authorization.k8s.io \"r\" not found",
                "forbidden: User \"u\" cannot get path \"/metrics\""
            })
    void aRightThatIsNotThereIsNoRule(String message) {
        assertThat(lacked(403, message)).isTrue();
        assertThat(lacked(422, message)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pods \"sbx-1\" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=5, limited: pods=5",
                "pods \"sbx-1\" is forbidden: violates PodSecurity \"restricted:latest\": the User cannot be root",
                "admission webhook \"w\" denied the request: x is forbidden: User \"u\" cannot create resource",
                "namespace is being terminated"
            })
    void aRuleIsNoRightThatIsNotThere(String message) {
        assertThat(lacked(403, message)).isFalse();
    }

    @Test
    void whoSaysNothingSaysNothingOfRights() {
        assertThat(Rights.lackedBy(new KubernetesClientException(
                        new StatusBuilder().withCode(403).build())))
                .isFalse();
    }
}
