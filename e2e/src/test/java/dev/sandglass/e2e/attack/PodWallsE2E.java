package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Attack.Finding;
import dev.sandglass.e2e.support.ControlPod;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Code in a sandbox attacks the walls of its own pod and the supervisor in it. */
class PodWallsE2E {

    private static final Attack WALLS = Attack.named("walls.py");
    private static final Attack LINK = Attack.named("link.py");

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static String sandbox = "";

    @BeforeAll
    static void start() {
        assumeTrue(INSTALLATION.ownNode().isPresent(), "attacks run on the project's own cluster only");
        sandbox = SANDBOXES.start();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @TestFactory
    Stream<DynamicTest> noWallGivesWayThatIsNotThereInAControlPod() {
        Map<String, Finding> inSandbox = WALLS.run(List.of(), PodWallsE2E::printed);
        Map<String, Finding> unguarded;
        try (ControlPod control = ControlPod.start(TENANT.kubernetes(), TENANT.imageOf(sandbox), 1)) {
            unguarded = WALLS.run(List.of(), control::python);
        }
        assertThat(inSandbox).hasSameSizeAs(unguarded).hasSizeGreaterThan(20);

        return inSandbox.values().stream()
                .map(finding -> DynamicTest.dynamicTest(finding.name(), () -> {
                    assertThat(Objects.requireNonNull(unguarded.get(finding.name()))
                                    .reached())
                            .as("control: %s", unguarded.get(finding.name()))
                            .isTrue();
                    assertThat(finding.reached()).as("sandbox: %s", finding).isFalse();
                }));
    }

    @Test
    void noSignalEndsTheSupervisor() {
        SANDBOXES.agent().python(sandbox, "before = 'the signals'");
        String boot = TENANT.containerOf(sandbox);

        String control = WALLS.call(
                "[subprocess.run(['sh', '-c', 'kill -' + str(int(number)) + ' $$; sleep 9']).returncode"
                        + " for number in (signal.SIGTERM, signal.SIGKILL)].__repr__()",
                PodWallsE2E::printed,
                new TypeReference<>() {});
        WALLS.call("send_pid_1(DEADLY)", PodWallsE2E::printed, new TypeReference<List<?>>() {});

        assertThat(control).as("control: the same signals end another process").isEqualTo("[-15, -9]");
        assertThat(SANDBOXES.agent().python(sandbox, "before").result()).isEqualTo("'the signals'");
        assertThat(TENANT.containerOf(sandbox)).isEqualTo(boot);
    }

    @Test
    void theLinkPortAnswersOnlyTheHolderOfTheGatewaysKey() {
        LinkKeys keys = keysOf(sandbox);
        String port = SandboxLabels.LINK_PORT + ", " + Attack.literal(keys.pod().publicZ85());

        assertThat(knocks("knock(" + port + ")")).as("a key of its own").isFalse();
        assertThat(knocks("knock(" + port + ", " + Attack.literal(keys.pod().secretZ85()) + ")"))
                .as("the pod's own key")
                .isFalse();
        assertThat(knocks("knock_plain(" + SandboxLabels.LINK_PORT + ")"))
                .as("no encryption")
                .isFalse();
        String other = SANDBOXES.start();
        LinkKeys othersKeys = keysOf(other);
        assertThat(knocks("knock(" + port + ", "
                        + Attack.literal(othersKeys.gateway().secretZ85()) + ")"))
                .as("the gateway's key for another sandbox")
                .isFalse();
        await("control: the gateway's key")
                .atMost(Duration.ofSeconds(60))
                .until(() -> knocks(
                        "knock(" + port + ", " + Attack.literal(keys.gateway().secretZ85()) + ")"));
    }

    @Test
    void theLinkSecretIsNowhereInSight() {
        String fresh = SANDBOXES.start();
        LinkKeys keys = keysOf(fresh);
        String raw = new String(keys.pod().secretBytes(), StandardCharsets.ISO_8859_1);
        String decoy = "decoy-" + "0123456789".repeat(4);
        SANDBOXES
                .agent()
                .call(
                        "sandbox_run_command",
                        Map.of(
                                "sandbox",
                                fresh,
                                "command",
                                "sleep",
                                "args",
                                List.of("300"),
                                "envs",
                                Map.of("DECOY", decoy),
                                "background",
                                true));

        assertThat(search(fresh, decoy)).as("control: what is there is found").isNotEmpty();
        assertThat(search(fresh, keys.pod().secretZ85())).isEmpty();
        assertThat(search(fresh, raw)).isEmpty();
    }

    private static List<String> search(String where, String secret) {
        String arguments = "find_secret(%s, %d, %s)"
                .formatted(Attack.literal(secret.substring(0, 4)), secret.length(), Attack.literal(sha256(secret)));
        return LINK.call(arguments, code -> printed(where, code), new TypeReference<>() {});
    }

    private static boolean knocks(String expression) {
        return LINK.call(expression, PodWallsE2E::printed, new TypeReference<Boolean>() {});
    }

    private static LinkKeys keysOf(String name) {
        String encoded = TENANT.kubernetes()
                .secrets()
                .inNamespace(Installation.NAMESPACE)
                .withName("sandglass-link")
                .require()
                .getData()
                .get("linkSecret");
        Sandbox resource = TENANT.sandbox(name);
        Integer incarnation = Objects.requireNonNull(resource.observed().incarnation());
        var secret = new LinkSecret(Base64.getDecoder().decode(Objects.requireNonNull(encoded)));
        String seat = resource.observed().seat();
        return seat == null
                ? LinkKeys.derive(secret, resource.getMetadata().getUid(), incarnation)
                : LinkKeys.derive(secret, seat, 0);
    }

    private static String printed(String code) {
        return printed(sandbox, code);
    }

    private static String printed(String where, String code) {
        Answer answer = SANDBOXES.agent().python(where, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    private static String sha256(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.ISO_8859_1));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
