package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.lifecycle.ExamplesE2E.Example;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The examples that need something of the installation or of the cluster. */
record ReachedExamples(Kubectl kubectl, Installation installation) {

    private static final Duration SOON = Duration.ofMinutes(2);

    private static final String SERVE = "cd /workspace && echo served > page"
            + " && setsid python3 -m http.server 8000 --bind 0.0.0.0 >/tmp/log 2>&1 </dev/null &";

    private static final String ASK = """
            import urllib.error, urllib.request
            try:
                print(urllib.request.urlopen('http://%s/', timeout=30).status)
            except urllib.error.HTTPError as refused:
                print(refused.code, refused.read().decode())
            """;

    private static final String RUNTIME_CLASS = """
            {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "gvisor"}, "handler": "%s"}
            """;

    private static final String STORAGE_CLASS = """
            {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
             "provisioner": "%s", "volumeBindingMode": "WaitForFirstConsumer"}
            """;

    private HttpResponse<String> page(String token) {
        var request = HttpRequest.newBuilder(
                        installation.endpoint().resolve("/sandboxes/default/ports/ports/8000/page"))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + token)
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    void servesItsPort(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(name);
        kubectl.in(name, "sh", "-c", SERVE);

        await("the page").atMost(SOON).until(() -> page(installation.token()).body(), "served\n"::equals);
        assertThat(page("no such key").statusCode()).isEqualTo(401);
        String neighbour = StoredExamples.WRITER;
        kubectl.apply("""
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "%s"}, "spec": {}}
                """.formatted(neighbour));
        kubectl.awaitReady(neighbour);
        String reach = "import socket; socket.create_connection(('%s', 8000), 3)"
                .formatted(kubectl.field(name, ".status.address"));
        assertThat(kubectl.in(name, "python3", "-c", reach))
                .as("control: from inside")
                .isEmpty();
        assertThatThrownBy(() -> kubectl.in(neighbour, "python3", "-c", reach)).hasMessageContaining("Error");

        String pod = kubectl.field(name, ".status.podName");
        kubectl.patch(name, "{\"ports\":[]}");
        await("the port to close")
                .atMost(SOON)
                .until(() -> page(installation.token()).statusCode() == 404);
        assertThat(kubectl.field(name, ".status.podName")).isEqualTo(pod);
    }

    /** What the proxy answers to a request for that host: a status, and its words. */
    private String asked(String sandbox, String host) {
        return kubectl.in(sandbox, "python3", "-c", ASK.formatted(host));
    }

    /** Whether the hosts themselves can be reached from here does not count: 403 is the proxy's word alone. */
    void reachesItsHosts(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(name);
        String pod = kubectl.field(name, ".status.podName");

        await("the proxy to know it").atMost(SOON).until(() -> asked(name, "example.org")
                .startsWith("403"));
        assertThat(asked(name, "example.com")).doesNotStartWith("403");
        assertThat(asked(name, "www.example.org")).doesNotStartWith("403");
        assertThat(asked(name, "www.example.com")).startsWith("403").contains("www.example.com", "allowedDomains");

        kubectl.patch(name, "{\"allowedDomains\":[\"www.example.com\"]}");
        await("the new list").atMost(SOON).until(() -> asked(name, "example.com")
                .startsWith("403"));
        await("the new list in each proxy").atMost(SOON).until(() -> !asked(name, "www.example.com")
                .startsWith("403"));
        assertThat(kubectl.field(name, ".status.podName")).isEqualTo(pod);
    }

    void reachesNothing(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(name);

        await("the proxy to know it").atMost(SOON).untilAsserted(() -> assertThat(asked(name, "example.com"))
                .startsWith("403")
                .contains("example.com", "allowedDomains"));
        kubectl.patch(name, "{\"allowedDomains\":[\"example.com\"]}");
        await("a list").atMost(SOON).until(() -> !asked(name, "example.com").startsWith("403"));
        kubectl.patch(name, "{\"allowedDomains\":[]}");
        await("none again").atMost(SOON).until(() -> asked(name, "example.com").startsWith("403"));
    }

    private String walls(String sandbox, String path) {
        return kubectl.run(
                "get", "networkpolicy", "--selector=sandglass.dev/sandbox=" + sandbox, "--output=jsonpath=" + path);
    }

    /** That such a policy lets code through is the business of {@code EgressAddressesE2E}. */
    void mayCallItsAddress(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(name);
        assertThat(kubectl.told(name, "NetworkReady")).startsWith("PoliciesApplied: ");
        String cidrs = "{.items[*].spec.egress[*].to[*].ipBlock.cidr}";
        assertThat(walls(name, cidrs)).isEqualTo("93.184.215.14/32");
        assertThat(walls(name, "{.items[0].spec.egress[1].ports}")).isEqualTo("[{\"port\":5432,\"protocol\":\"TCP\"}]");

        kubectl.patch(name, "{\"allowedDomains\":[\"169.254.169.254:80\"]}");
        kubectl.awaitReason(name, "NetworkReady", "DomainsIgnored");
        assertThat(kubectl.told(name, "NetworkReady")).contains("169.254.169.254", "is not public");
        assertThat(walls(name, cidrs)).isEmpty();
    }

    void keepsItsFilesInTheClass(Example example) {
        assumeTrue(installation.ownNode().isPresent(), "StorageClasses are the business of the cluster's owner");
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReason(name, "Ready", "Unschedulable");

        String provisioner = kubectl.run("get", "storageclass", "local", "--output=jsonpath={.provisioner}");
        kubectl.apply(STORAGE_CLASS.formatted(provisioner));
        kubectl.awaitReady(name);
        assertThat(kubectl.run("get", "pvc", "workspace-" + name, "--output=jsonpath={.spec.storageClassName}"))
                .isEqualTo("fast");
        assertThatThrownBy(() -> kubectl.patch(name, "{\"workspace\":{\"storageClassName\":\"local\"}}"))
                .hasMessageContaining("storageClassName cannot change");
    }

    /** The images are built and brought into the node by e2e/own-images/build; e2e/up has them allowed. */
    void runsAnImageOfItsOwn(Example example) {
        assumeTrue(installation.ownNode().isPresent(), "elsewhere no image of that name can be pulled");
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReady(name);

        assertThat(kubectl.in(name, "python3", "-c", "import tabulate; print(tabulate.__version__)"))
                .isEqualTo("0.9.0\n");

        String image = kubectl.field(name, ".spec.image").replaceFirst("[^/]*$", "no-supervisor:1");
        kubectl.run("delete", "sandboxes.sandglass.dev", name);
        kubectl.apply("""
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "%s"},
                 "spec": {"image": "%s"}}
                """.formatted(name, image));
        kubectl.awaitReason(name, "Ready", "ImageUnusable");
        assertThat(kubectl.told(name, "Ready")).contains("does not have the package sandglass-supervisor");
    }

    void runsWithTheRuntimeClass(Example example) {
        String name = example.name();
        kubectl.run("apply", "-f", example.file().toString());
        kubectl.awaitReason(name, "Ready", "PodRefused");
        assertThat(kubectl.told(name, "Ready")).contains("RuntimeClass", "gvisor");

        assumeTrue(installation.ownNode().isPresent(), "RuntimeClasses are the business of the cluster's owner");
        String handler = kubectl.run("get", "runtimeclass", "runc-alt", "--output=jsonpath={.handler}");
        kubectl.apply(RUNTIME_CLASS.formatted(handler));
        // An edit is tried at once, where nothing was edited the operator would try again in a minute.
        kubectl.patch(name, "{\"retention\":\"2h\"}");
        kubectl.awaitReady(name);
        String pod = kubectl.field(name, ".status.podName");
        assertThat(kubectl.run("get", "pod", pod, "--output=jsonpath={.spec.runtimeClassName}"))
                .isEqualTo("gvisor");
    }
}
