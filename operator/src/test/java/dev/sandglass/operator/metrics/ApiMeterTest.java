package dev.sandglass.operator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiMeterTest {

    @ParameterizedTest
    @CsvSource({
        "/api/v1/namespaces/tenant-a/pods, pods",
        "/api/v1/namespaces/tenant-a/pods/sbx-1, pods",
        "/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes/demo/status, sandboxes/status",
        "/apis/sandglass.dev/v1alpha1/sandboxes, sandboxes",
        "/apis/coordination.k8s.io/v1/namespaces/x/leases/sandglass-operator, leases",
        "/apis/events.k8s.io/v1/namespaces/x/events/demo.0123456789abcdef, events",
        "/version, other",
    })
    void requestsAreCountedByResourceAndNeverByName(String path, String resource) {
        assertThat(ApiMeter.resource(URI.create("https://api.example.com" + path + "?watch=true")))
                .isEqualTo(resource);
    }
}
