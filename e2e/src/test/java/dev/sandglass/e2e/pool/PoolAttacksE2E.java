package dev.sandglass.e2e.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a seat is worth to whom: nothing before its claim, and after it only to the sandbox that claimed it. */
class PoolAttacksE2E {

    private static final int MEMORY = 331;
    private static final String ALLOWED = "allowed.example.com";

    /** Asks the egress proxy with a URL from outside; prints the status line and why. */
    private static final String ASK = """
            import base64, socket, sys, urllib.parse
            url = urllib.parse.urlsplit(%s)
            credential = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
            with socket.create_connection((url.hostname, url.port), 10) as proxy:
                proxy.sendall(f"CONNECT %s:443 HTTP/1.1\\r\\nHost: %s:443\\r\\nProxy-Authorization: Basic {credential}\\r\\n\\r\\n".encode())
                print(proxy.recv(4096).decode().split("\\r\\n\\r\\n")[0])
            """;

    private static final String REFUSED_AS_NOBODY = "unknown-sandbox";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static final Pool POOL = Pool.of(TENANT, 1, MEMORY, "python");

    @BeforeEach
    void fill() {
        POOL.awaitSeats(1);
    }

    @AfterAll
    static void close() {
        POOL.close();
        TENANT.close();
    }

    private static String proxyUrl(Pod pod) {
        String encoded = TENANT.kubernetes()
                .secrets()
                .inNamespace(Tenant.NAMESPACE)
                .withName(pod.getMetadata().getName())
                .require()
                .getData()
                .getOrDefault("proxyUrl", "");
        assumeTrue(!encoded.isEmpty(), "egressProxy.enabled is false");
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.US_ASCII);
    }

    private static String ask(String url) {
        return ASK.formatted("'" + url + "'", ALLOWED, ALLOWED);
    }

    /** As an administrator would, who is no part of the product: code cannot get there. */
    private static String inSeat(Pod seat, String code) {
        return KUBECTL.run("exec", seat.getMetadata().getName(), "--", "python3", "-I", "-c", code);
    }

    private String inSandbox(String sandbox, String code) {
        Answer answer = SANDBOXES.agent().python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    @Test
    void theCredentialOfASeatOpensNothingBeforeTheClaimAndOnlyItsOwnPodAfterIt() {
        Pod seat = POOL.seats().getFirst();
        String url = proxyUrl(seat);

        assertThat(inSeat(seat, ask(url))).as("in the seat, unclaimed").contains(" 407 ", REFUSED_AS_NOBODY);
        String owner = SANDBOXES.start(POOL.config(Map.of("allowed_domains", List.of(ALLOWED))));
        assertThat(TENANT.podOf(owner).getMetadata().getUid())
                .isEqualTo(seat.getMetadata().getUid());
        String other = SANDBOXES.start(POOL.coldConfig(Map.of("allowed_domains", List.of(ALLOWED))));

        assertThat(inSandbox(other, ask(url))).as("from another sandbox").contains(" 407 ");
        assertThat(inSandbox(owner, ask(url)))
                .as("control: in the sandbox that claimed it, the proxy goes on to look for the host")
                .doesNotContain(REFUSED_AS_NOBODY, "not-allowed", " 407 ");
    }

    @Test
    void aSeatIsNoSandboxThatAnyToolShows() {
        Pod seat = POOL.seats().getFirst();
        String id = seat.getMetadata().getLabels().get(SandboxLabels.SEAT);

        Answer list = SANDBOXES.agent().call("sandbox_list", Map.of());

        assertThat(list.text()).doesNotContain(id, seat.getMetadata().getName());
        assertThat(SANDBOXES.agent().resources().toString())
                .doesNotContain(id, seat.getMetadata().getName());
    }

    /** An account with the built-in role {@code edit} in the tenant's namespace, as a tenant's people have. */
    private static KubernetesClient tenantsUser() {
        KUBECTL.apply("""
                {"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"e2e-editor"}}
                """);
        KUBECTL.apply("""
                {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"e2e-editor"},
                 "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},
                 "subjects":[{"kind":"ServiceAccount","name":"e2e-editor","namespace":"%s"}]}
                """.formatted(Tenant.NAMESPACE));
        String token = KUBECTL.run("create", "token", "e2e-editor").strip();
        var config = INSTALLATION.kubernetes().getConfiguration();
        config.setClientCertData(null);
        config.setClientKeyData(null);
        config.setClientCertFile(null);
        config.setClientKeyFile(null);
        config.setAutoOAuthToken(null);
        config.setOauthToken(token);
        KubernetesClient user = new KubernetesClientBuilder().withConfig(config).build();
        // The API server hears of a binding a moment after it was written.
        await("the right").atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
            user.pods().inNamespace(Tenant.NAMESPACE).list();
            return true;
        });
        return user;
    }

    /** What would turn a seat into the pod of a sandbox, or take it from its pool, by hand. */
    private static Map<String, UnaryOperator<Pod>> thefts(String sandbox, String uid) {
        return Map.of(
                "the label with the UID", pod -> labelled(pod, SandboxLabels.SANDBOX_UID, uid),
                "the label with the name", pod -> labelled(pod, SandboxLabels.SANDBOX, sandbox),
                "the id of another seat", pod -> labelled(pod, SandboxLabels.SEAT, uid),
                "no owner",
                        pod -> {
                            pod.getMetadata().setOwnerReferences(List.of());
                            return pod;
                        });
    }

    private static Pod labelled(Pod pod, String label, String value) {
        pod.getMetadata().getLabels().put(label, value);
        return pod;
    }

    @Test
    void aUserOfTheTenantNeitherClaimsNorLabelsNorAdoptsASeat() {
        Pod seat = POOL.seats().getFirst();
        String sandbox = SANDBOXES.start(POOL.coldConfig(Map.of()));
        String uid = TENANT.sandbox(sandbox).getMetadata().getUid();
        try (KubernetesClient user = tenantsUser()) {
            var pod = user.pods()
                    .inNamespace(Tenant.NAMESPACE)
                    .withName(seat.getMetadata().getName());
            thefts(sandbox, uid)
                    .forEach((what, change) -> assertThatThrownBy(() -> Tenant.again(() -> pod.edit(change)))
                            .as(what)
                            .hasMessageContaining("operator"));
            pod.delete();
        }
        await("control: the user may delete the seat, and another comes")
                .atMost(Duration.ofMinutes(2))
                .until(() -> POOL.seats().stream().noneMatch(found -> found.getMetadata()
                        .getUid()
                        .equals(seat.getMetadata().getUid())));
    }

    @Test
    void aUserOfTheTenantDoesNotWriteTheStatusWhichChoosesKeys() {
        String sandbox = SANDBOXES.start(POOL.coldConfig(Map.of()));
        String taken = POOL.seats().getFirst().getMetadata().getLabels().get(SandboxLabels.SEAT);
        try (KubernetesClient user = tenantsUser()) {
            assertThatThrownBy(() -> user.resources(Sandbox.class)
                            .inNamespace(Tenant.NAMESPACE)
                            .withName(sandbox)
                            .subresource("status")
                            .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"seat\":\"" + taken + "\"}}"))
                    .isInstanceOf(KubernetesClientException.class);
        }
        assertThat(TENANT.sandbox(sandbox).observed().seat()).isNull();
    }
}
