package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvVariable;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodIdentity;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.pod.PodShape;
import dev.sandglass.operator.pod.PodSubject;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.settings.Authorities;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.Placement;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A pod that is no Sandbox's, a seat that waits for one, has everything that holds a Sandbox's pod. Both are compared
 * field by field: what a later version gives to one and not to the other fails here.
 */
class PodShapeTest {

    private static final String SEAT = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final PodSubject SEAT_SUBJECT = new PodSubject(SEAT, 1);
    private static final String POOL = "c2e6a3d1-7b64-4a1f-8a7e-1dab8cf32e55";

    private static final LinkSecret LINK_SECRET = new LinkSecret(new byte[32]);
    private static final EgressSecret EGRESS_SECRET =
            new EgressSecret("an egress secret for unit tests only".getBytes(StandardCharsets.US_ASCII));

    /** What the identity decides, and nothing else may: as JSON pointers, an environment variable by its name. */
    private static final Set<String> IDENTITY = Set.of(
            "/metadata/name",
            "/metadata/labels/sandglass.dev~1sandbox",
            "/metadata/labels/sandglass.dev~1sandbox-uid",
            "/metadata/labels/sandglass.dev~1incarnation",
            "/metadata/annotations/sandglass.dev~1pod-spec-hash",
            "/metadata/annotations/sandglass.dev~1own-max-lifetime",
            "/metadata/annotations/cluster-autoscaler.kubernetes.io~1safe-to-evict",
            "/metadata/annotations/karpenter.sh~1do-not-disrupt",
            "/metadata/ownerReferences/0/kind",
            "/metadata/ownerReferences/0/name",
            "/metadata/ownerReferences/0/uid",
            "/spec/activeDeadlineSeconds",
            "/spec/securityContext/runAsUser",
            "/spec/containers/0/env/SANDGLASS_SANDBOX_UID/value",
            "/spec/containers/0/env/SANDGLASS_INCARNATION/value",
            "/spec/containers/0/env/SANDGLASS_ENV/value",
            "/spec/containers/0/env/SANDGLASS_LINK_SECRET_KEY/valueFrom/secretKeyRef/name",
            "/spec/containers/0/env/SANDGLASS_GATEWAY_PUBLIC_KEY/valueFrom/secretKeyRef/name");

    static final Set<String> PROXY_VARIABLES = Set.of(
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "PIP_PROXY",
            "npm_config_proxy",
            "npm_config_https_proxy");

    /** An installation that says something of everything that it can. */
    static PodSettings settings(boolean hostUsers) {
        return new PodSettings(
                new ImagePolicy("registry.example.com/kernel:1", List.of("registry.example.com/*")),
                Duration.ofHours(8),
                new NamespaceAccount("sandglass-sandbox", List.of("pull")),
                new RuntimeClassPolicy(Optional.empty(), List.of("gvisor")),
                new SandboxUsers(hostUsers, SandboxUsers.DEFAULT.from(), SandboxUsers.DEFAULT.count()),
                new Scheduling(
                        RequestRatios.of("0.25"),
                        Optional.of("sandboxes"),
                        new Placement(
                                Map.of("pool", "sandboxes"),
                                List.of(new TolerationBuilder()
                                        .withKey("sandboxes")
                                        .withOperator("Exists")
                                        .build()))),
                Optional.of(new Egress(new DeniedRanges(List.of(), List.of()), false, true, DefaultDomains.NONE)),
                Optional.of(Authorities.empty()),
                16);
    }

    private static Sandbox sandbox() {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(new SandboxSpec(
                        "registry.example.com/own:2",
                        new Quantity("1Gi"),
                        new Quantity("2"),
                        new Quantity("3Gi"),
                        List.of(new EnvVariable("GREETING", "hello")),
                        false)
                .withRuntimeClassName("gvisor")
                .withMaxLifetime("2h")
                .withWorkspace(Workspace.of("5Gi", null, true))
                .withVolumes(
                        List.of(new Volume("data", "/data", true, null, new Volume.ConfigMap("data"), null, null))));
        return sandbox;
    }

    static NetworkProbe probe() {
        return new NetworkProbe(List.of(new ClosedAddress("10.96.0.1", 443, Set.of(6443))), true);
    }

    private static PodShape shape(boolean hostUsers) {
        return SandboxPod.shape(sandbox(), settings(hostUsers), Optional.of("10.96.0.9"), probe());
    }

    private static Pod sandboxPod(boolean hostUsers) {
        ProxyAccess proxy = ProxyAccess.of(sandbox().getMetadata().getUid(), "10.96.0.9", EGRESS_SECRET);
        return SandboxPod.desired(sandbox(), 3, settings(hostUsers), Optional.empty(), Optional.of(proxy), probe());
    }

    private static ObjectMeta seatMetadata() {
        return new ObjectMetaBuilder()
                .withName(SEAT_SUBJECT.name())
                .withNamespace("tenant-a")
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addNewOwnerReference()
                .withApiVersion("sandglass.dev/v1alpha1")
                .withKind("SandboxPool")
                .withName("warm")
                .withUid(POOL)
                .withController(true)
                .endOwnerReference()
                .build();
    }

    private static PodIdentity seat(boolean hostUsers) {
        return new PodIdentity(
                seatMetadata(), SEAT_SUBJECT, settings(hostUsers).users().ofNew(SEAT), Duration.ofHours(32), Map.of());
    }

    /** Every field that is there, with its text. */
    private static Map<String, String> fields(Object resource) {
        Map<String, String> fields = new TreeMap<>();
        collect("", Serialization.unmarshal(Serialization.asJson(resource), Map.class), fields);
        return fields;
    }

    private static void collect(String path, Object value, Map<String, String> fields) {
        switch (value) {
            case Map<?, ?> object ->
                object.forEach((name, field) -> collect(path + "/" + pointer(name.toString()), field, fields));
            case List<?> list
            when path.endsWith("/env") ->
                list.forEach(variable -> collect(path + "/" + ((Map<?, ?>) variable).get("name"), variable, fields));
            case List<?> list ->
                IntStream.range(0, list.size()).forEach(i -> collect(path + "/" + i, list.get(i), fields));
            default -> fields.put(path, value.toString());
        }
    }

    private static String pointer(String name) {
        return name.replace("~", "~0").replace("/", "~1");
    }

    /** What two resources do not have in common, as JSON pointers, an environment variable by its name. */
    static Set<String> differences(Object one, Object other) {
        Map<String, String> mine = fields(one);
        Map<String, String> theirs = fields(other);
        Set<String> paths = new TreeSet<>(mine.keySet());
        paths.addAll(theirs.keySet());
        paths.removeIf(path -> mine.containsKey(path) && mine.get(path).equals(theirs.get(path)));
        return paths;
    }

    private static Set<String> identityFields() {
        Set<String> fields = new TreeSet<>(IDENTITY);
        PROXY_VARIABLES.forEach(name -> fields.add("/spec/containers/0/env/" + name + "/valueFrom/secretKeyRef/name"));
        return fields;
    }

    @Test
    void aSeatDiffersFromASandboxsPodInItsIdentityAlone() {
        assertThat(differences(sandboxPod(true), shape(true).of(seat(true)))).isEqualTo(identityFields());
    }

    @Test
    void inAUserNamespaceItHasTheSameUidToo() {
        Set<String> expected = identityFields();
        expected.remove("/spec/securityContext/runAsUser");

        Pod seat = shape(false).of(seat(false));

        assertThat(seat.getSpec().getHostUsers()).isFalse();
        assertThat(differences(sandboxPod(false), seat)).isEqualTo(expected);
    }

    /** Or the comparison would not see it if one of them went missing in both. */
    @Test
    void whatIsComparedHasEveryPartThatAShapeCanHave() {
        assertThat(fields(shape(true).of(seat(true))).keySet())
                .contains(
                        "/spec/priorityClassName",
                        "/spec/runtimeClassName",
                        "/spec/nodeSelector/pool",
                        "/spec/tolerations/2/key",
                        "/spec/dnsConfig/nameservers/0",
                        "/spec/securityContext/seccompProfile/type",
                        "/spec/containers/0/securityContext/capabilities/drop/0",
                        "/spec/containers/0/env/SANDGLASS_VOLUMES/value",
                        "/spec/containers/0/env/SSL_CERT_FILE/value",
                        "/spec/containers/0/env/JAVA_TOOL_OPTIONS/value",
                        "/spec/containers/0/env/HTTPS_PROXY/valueFrom/secretKeyRef/name",
                        "/spec/containers/0/env/SANDGLASS_CLOSED_ADDRESSES/value",
                        "/spec/volumes/0/persistentVolumeClaim/claimName",
                        "/spec/volumes/4/configMap/name",
                        "/spec/volumes/5/configMap/name");
    }

    @Test
    void twoPodsOfOneIdentityAndOneShapeAreTheSame() {
        assertThat(shape(true).of(SandboxPod.identity(sandbox(), 3, settings(true), Optional.empty())))
                .isEqualTo(sandboxPod(true));
    }

    @Test
    void theSecretOfASeatHasTheKeysOfItsOwnIdAndOtherwiseWhatASandboxsHas() {
        Secret seat = PodSecret.desired(
                seatMetadata(),
                SEAT_SUBJECT.linkKeys(LINK_SECRET),
                Optional.of(ProxyAccess.of(SEAT, "10.96.0.9", EGRESS_SECRET)));
        Secret own = PodSecret.desired(
                ChildMetadata.ofIncarnation(sandbox(), 3),
                SandboxPod.subject(sandbox(), 3).linkKeys(LINK_SECRET),
                Optional.of(ProxyAccess.of(sandbox().getMetadata().getUid(), "10.96.0.9", EGRESS_SECRET)));

        assertThat(differences(own, seat))
                .filteredOn(path -> !path.startsWith("/metadata/"))
                .containsExactly("/data/gatewayPublicKey", "/data/linkSecretKey", "/data/proxyUrl");
        LinkKeys keys = LinkKeys.derive(LINK_SECRET, SEAT, 1);
        assertThat(decoded(seat, "linkSecretKey")).isEqualTo(keys.pod().secretZ85());
        assertThat(decoded(seat, "proxyUrl")).startsWith("http://" + SEAT + ":" + EGRESS_SECRET.passwordOf(SEAT) + "@");
    }

    private static String decoded(Secret secret, String key) {
        return new String(Base64.getDecoder().decode(secret.getData().get(key)), StandardCharsets.US_ASCII);
    }
}
