package dev.sandglass.operator.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.WorkspaceClaim;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.settings.SandboxUsers;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is asked of the API server about volumes, against a stand-in that answers what each test says. */
class StorageTest {

    private static final String CORE = "/api/v1/namespaces/tenant-a/";

    private record Answer(int code, String body) {}

    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;
    private KubernetesClient client;
    private Storage storage;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                .withRequestRetryBackoffLimit(0)
                .build();
        client = new KubernetesClientBuilder().withConfig(config).build();
        storage = new Storage(client, SandboxUsers.DEFAULT);
    }

    @AfterEach
    void stop() {
        client.close();
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String asked = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            String sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            requests.add(asked + (asked.startsWith("PATCH") ? " " + sent : ""));
            Answer answer = answers.getOrDefault(asked, refusal(404, "not found"));
            byte[] body = (answer.body().isEmpty() ? sent : answer.body()).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.code(), body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private static Answer refusal(int code, String message) {
        return new Answer(
                code,
                "{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\",\"code\":%d,\"message\":\"%s\"}"
                        .formatted(code, message));
    }

    private static Sandbox sandbox(SandboxSpec spec) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(spec);
        return sandbox;
    }

    private Optional<String> missing(Volume... volumes) {
        Optional<PodRefusal> refusal = storage.missing(sandbox(SandboxSpec.DEFAULT.withVolumes(List.of(volumes))));
        assertThat(refusal.map(PodRefusal::reason)).isIn(Optional.empty(), Optional.of(Reason.VOLUME_MISSING));
        return refusal.map(PodRefusal::message);
    }

    private static Volume configMap() {
        return new Volume("settings", "/settings", null, null, new Volume.ConfigMap("words"), null, null);
    }

    private static Volume secret() {
        return new Volume("token", "/token", null, null, null, new Volume.Secret("mountable-token"), null);
    }

    private static Workspace workspace(String size) {
        return new Workspace(new Quantity(size), null, null);
    }

    @Test
    void aSandboxWithoutVolumesAsksNothing() {
        assertThat(missing()).isEmpty();
        assertThat(missing(new Volume("s", "/s", null, null, null, null, new Volume.EmptyDir(null))))
                .isEmpty();
        assertThat(requests).isEmpty();
    }

    @Test
    void aClaimMustExistAndStay() {
        Volume volume = Volume.ofClaim("data", "/data", true, "shared");
        assertThat(missing(volume))
                .contains(
                        "spec.volumes: volume 'data': there is no PersistentVolumeClaim shared in namespace tenant-a");
        answers.put(
                "GET " + CORE + "persistentvolumeclaims/shared",
                new Answer(200, "{\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"shared\"}}"));
        assertThat(missing(volume)).isEmpty();
        answers.put(
                "GET " + CORE + "persistentvolumeclaims/shared",
                new Answer(
                        200,
                        "{\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"shared\","
                                + "\"deletionTimestamp\":\"2026-03-01T10:00:00Z\"}}"));
        assertThat(missing(volume).orElseThrow()).endsWith("PersistentVolumeClaim shared is being deleted");
    }

    @Test
    void aConfigMapMustExistAndCarryTheLabel() {
        assertThat(missing(configMap()).orElseThrow()).contains("there is no ConfigMap words in namespace tenant-a");
        for (String labels : List.of("{}", "{\"sandglass.dev/mountable\":\"false\"}", "null")) {
            answers.put(
                    "GET " + CORE + "configmaps/words",
                    new Answer(
                            200,
                            "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"words\",\"labels\":" + labels + "}}"));
            assertThat(missing(configMap()).orElseThrow())
                    .contains("ConfigMap words is not open", "sandglass.dev/mountable=true");
        }
        answers.put(
                "GET " + CORE + "configmaps/words",
                new Answer(
                        200,
                        "{\"kind\":\"ConfigMap\",\"metadata\":{\"labels\":{\"sandglass.dev/mountable\":\"true\"}}}"));
        assertThat(missing(configMap())).isEmpty();
    }

    @Test
    void aSecretIsNeitherReadNorMadeToFindOutWhetherItExists() {
        String dryRun = "POST " + CORE + "secrets?dryRun=All";
        answers.put(dryRun, new Answer(201, ""));
        assertThat(missing(secret()).orElseThrow())
                .contains("there is no Secret mountable-token in namespace tenant-a");
        for (int code : new int[] {400, 403, 409}) {
            answers.put(dryRun, refusal(code, "no"));
            assertThat(missing(secret())).isEmpty();
        }
        assertThat(requests).containsOnly(dryRun);
    }

    /** What code needs, and what to type; no entry is read, so the kubelet has to find a missing one. */
    @Test
    void aSecretOfAToolServerMustExist() {
        SecretFiles files = new SecretFiles(new TreeMap<>(Map.of(
                "sandglass-mcp-a", new TreeSet<>(Set.of("token")),
                "sandglass-mcp-b", new TreeSet<>(Set.of("user", "key")))));
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT);
        String dryRun = "POST " + CORE + "secrets?dryRun=All";

        answers.put(dryRun, new Answer(201, ""));
        assertThat(storage.missing(sandbox, files))
                .contains(new PodRefusal(
                        Reason.VOLUME_MISSING,
                        "there is no Secret sandglass-mcp-a in namespace tenant-a, of which the tool server needs the"
                                + " entry token; create it: kubectl create secret generic sandglass-mcp-a --namespace"
                                + " tenant-a --from-file=token=FILE (or --from-literal=KEY=VALUE)"));
        answers.put(dryRun, refusal(409, "already exists"));
        assertThat(storage.missing(sandbox, files)).isEmpty();
        assertThat(storage.missing(sandbox, SecretFiles.NONE)).isEmpty();
        assertThat(requests).containsExactly(dryRun, dryRun, dryRun);
    }

    @Test
    void aNewWorkspaceIsOneWrite() {
        answers.put("POST " + CORE + "persistentvolumeclaims", new Answer(201, ""));
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(workspace("1Gi")));

        Storage.ClaimResult result = storage.workspace(sandbox, workspace("1Gi"), Optional.empty());

        assertThat(result.refusal()).isEmpty();
        assertThat(result.claim().orElseThrow().getMetadata().getName()).isEqualTo("workspace-demo");
        assertThat(requests).containsExactly("POST " + CORE + "persistentvolumeclaims");
    }

    @Test
    void aClaimThatTheCacheDoesNotKnowYetIsTakenIfItIsOurs() {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(workspace("1Gi")));
        answers.put("POST " + CORE + "persistentvolumeclaims", refusal(409, "already exists"));
        String get = "GET " + CORE + "persistentvolumeclaims/workspace-demo";
        answers.put(
                get,
                new Answer(
                        200,
                        Serialization.asJson(WorkspaceClaim.desired(sandbox, workspace("1Gi"), SandboxUsers.DEFAULT))));
        assertThat(storage.workspace(sandbox, workspace("1Gi"), Optional.empty())
                        .claim())
                .isPresent();

        answers.put(
                get,
                new Answer(200, "{\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":\"workspace-demo\"}}"));
        assertThat(storage.workspace(sandbox, workspace("1Gi"), Optional.empty())
                        .refusal()
                        .orElseThrow()
                        .message())
                .contains("that Sandglass did not create");
    }

    @Test
    void aClaimThatIsRefusedIsTold() {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(workspace("1Gi")));
        answers.put("POST " + CORE + "persistentvolumeclaims", refusal(403, "exceeded quota: tenant"));
        assertThat(storage.workspace(sandbox, workspace("1Gi"), Optional.empty())
                        .refusal())
                .contains(new PodRefusal(
                        Reason.QUOTA_EXCEEDED,
                        "The API server refused the claim of spec.workspace: exceeded quota: tenant"));
        answers.put("POST " + CORE + "persistentvolumeclaims", refusal(422, "no such thing"));
        assertThat(storage.workspace(sandbox, workspace("1Gi"), Optional.empty())
                        .refusal()
                        .orElseThrow()
                        .reason())
                .isEqualTo(Reason.VOLUME_MISSING);
    }

    @Test
    void aRightThatTheOperatorLacksIsNotTheClaimsFault() {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(workspace("1Gi")));
        answers.put(
                "POST " + CORE + "persistentvolumeclaims",
                refusal(403, "claims is forbidden: User \\\"o\\\" cannot create resource"));
        assertThatExceptionOfType(KubernetesClientException.class)
                .isThrownBy(() -> storage.workspace(sandbox, workspace("1Gi"), Optional.empty()))
                .withMessageContaining("cannot create resource");
    }

    @Test
    void aKnownClaimIsGrownOrLeftIfItMayNot() {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(workspace("2Gi")));
        PersistentVolumeClaim known = WorkspaceClaim.desired(sandbox, workspace("1Gi"), SandboxUsers.DEFAULT);
        String patch = "PATCH " + CORE + "persistentvolumeclaims/workspace-demo";
        answers.put(patch, refusal(403, "the class does not allow it"));
        assertThat(storage.workspace(sandbox, workspace("2Gi"), Optional.of(known))
                        .claim())
                .contains(known);
        answers.put(
                patch,
                new Answer(
                        200,
                        Serialization.asJson(WorkspaceClaim.desired(sandbox, workspace("2Gi"), SandboxUsers.DEFAULT))));
        assertThat(storage.workspace(sandbox, workspace("2Gi"), Optional.of(known))
                        .claim())
                .contains(WorkspaceClaim.desired(sandbox, workspace("2Gi"), SandboxUsers.DEFAULT));
        assertThat(requests).containsOnly(patch + " {\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}");
    }

    @Test
    void aClaimOfAnotherClassIsNeitherTakenNorGrown() {
        Workspace local = new Workspace(new Quantity("1Gi"), "local", null);
        Workspace encrypted = new Workspace(new Quantity("2Gi"), "encrypted", null);
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(encrypted));
        PersistentVolumeClaim known = WorkspaceClaim.desired(sandbox, local, SandboxUsers.DEFAULT);

        Storage.ClaimResult result = storage.workspace(sandbox, encrypted, Optional.of(known));

        assertThat(result.claim()).isEmpty();
        assertThat(result.refusal().orElseThrow().reason()).isEqualTo(Reason.VOLUME_MISSING);
        assertThat(result.refusal().orElseThrow().message()).contains("local and not encrypted");
        assertThat(requests).isEmpty();
    }

    @Test
    void whatIsToBeKeptLosesItsOwner() {
        Workspace keep = new Workspace(new Quantity("1Gi"), null, true);
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withWorkspace(keep));
        PersistentVolumeClaim tied = WorkspaceClaim.desired(sandbox, workspace("1Gi"), SandboxUsers.DEFAULT);
        answers.put(
                "PATCH " + CORE + "persistentvolumeclaims/workspace-demo",
                new Answer(200, Serialization.asJson(WorkspaceClaim.desired(sandbox, keep, SandboxUsers.DEFAULT))));

        storage.tied(sandbox, keep, tied);

        assertThat(requests)
                .containsExactly("PATCH " + CORE
                        + "persistentvolumeclaims/workspace-demo {\"metadata\":{\"ownerReferences\":[]}}");
    }
}
