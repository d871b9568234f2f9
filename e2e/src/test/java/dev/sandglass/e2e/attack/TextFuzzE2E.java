package dev.sandglass.e2e.attack;

import static dev.sandglass.e2e.support.TextOracle.canBeRead;
import static dev.sandglass.e2e.support.TextOracle.digest;
import static dev.sandglass.e2e.support.TextOracle.isOurs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.api.ConditionType;
import dev.sandglass.api.EnvRules;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.ComponentHealth;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Text of all planes of Unicode through every door by which it reaches a watched object or an answer: it arrives as it is, or
 * is refused in words of ours; no component ends or misses an event.
 */
class TextFuzzE2E {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final TypeReference<Map<String, String>> STRINGS = new TypeReference<>() {};
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int UNPROCESSABLE = 422;

    /** Where e2e/up has images allowed. */
    private static final String IMAGES = "registry.example.com/agents/";

    @RegisterExtension
    static final FreshSandboxes SHARED = FreshSandboxes.perClass();

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());

    private static String shared = "";

    private final Agent agent = SANDBOXES.agent();
    private final AnyText texts = new AnyText();

    @BeforeAll
    static void begin() {
        shared = SHARED.start();
        System.out.printf(
                "fuzz: end to end, seed %d, %d rounds (-Dsandglass.fuzz.seed, -Dsandglass.fuzz.rounds)%n",
                AnyText.SEED, AnyText.ROUNDS);
    }

    @AfterEach
    void nothingEnded() {
        HEALTH.isUnchanged();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @Test
    void variablesArriveAsTheyAre() throws Exception {
        for (int round = 0; round < AnyText.ROUNDS; round++) {
            Map<String, String> given = variables();
            String sandbox = SANDBOXES.start(Map.of("envs", given));
            assertThat(variablesOf(sandbox, Map.of())).isEqualTo(digests(given));
            var ofTheCall = Map.of("F_0", texts.next(200), "F_CALL", texts.next(200));
            var both = new LinkedHashMap<>(given);
            both.putAll(ofTheCall);
            assertThat(variablesOf(sandbox, ofTheCall)).isEqualTo(digests(both));
            agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true)); // The node has no room for many.
        }
    }

    @Test
    void annotationsAndLabelsHarmNoWatch() {
        String sandbox = SANDBOXES.start();
        List<String> annotations = texts.some(10 * AnyText.ROUNDS, 2000);
        annotations.add(AnyText.LONG);
        for (String text : annotations) {
            String label = texts.name(63);
            TENANT.change(sandbox, found -> {
                found.getMetadata().getAnnotations().put("example.com/text", text);
                found.getMetadata()
                        .getAnnotations()
                        .put(SandboxLabels.GIVEN_NAME, label + text.substring(0, text.length() / 2));
                found.getMetadata().getLabels().put("example.com/text", label);
                return found;
            });
            var changed = TENANT.sandbox(sandbox).getMetadata();
            assertThat(changed.getAnnotations()).containsEntry("example.com/text", text);
            assertThat(changed.getLabels()).containsEntry("example.com/text", label);
            isOurs(agent.call("sandbox_list", Map.of()).text());
        }
        String half = "{\"metadata\": {\"annotations\": {\"example.com/text\": \"\\ud800 \\udfff\"}}}";
        TENANT.resource(sandbox).patch(PatchContext.of(PatchType.JSON_MERGE), half);
        // What comes behind those texts in the same watches is heard.
        Answer stopped = agent.call("sandbox_stop", Map.of("sandbox", sandbox));
        assertThat(stopped.failed()).as(stopped.text()).isFalse();
        Answer again = agent.start(sandbox);
        assertThat(again.failed()).as(again.text()).isFalse();
    }

    @Test
    void labelsAndNamesOfPortsAreAscii() {
        for (String text : texts.beyondAscii(AnyText.ROUNDS, 20)) {
            isRefused(found -> found.getMetadata().getLabels().put("example.com/text", text));
            isRefused(found -> found.setSpec(found.getSpec().withPorts(List.of(new SandboxPort(text, 8000)))));
        }
    }

    /** The node says why, with the name. */
    @Test
    void anImageThatNoneCanBeIsNamedInTheCondition() {
        List<String> images = new ArrayList<>(List.of(String.join("", AnyText.CLASSIC)));
        // The installation's list of allowed images has one name behind the last slash.
        IntStream.range(0, AnyText.ROUNDS)
                .forEach(_ -> images.add(texts.next(200).replace("/", "")));
        Map<String, String> sandboxes =
                images.stream().collect(Collectors.toMap(_ -> SANDBOXES.name(), image -> image));
        sandboxes.forEach((name, image) -> {
            var sandbox = new Sandbox();
            sandbox.getMetadata().setName(name);
            sandbox.getMetadata().setNamespace(Tenant.NAMESPACE);
            sandbox.setSpec(new SandboxSpec(
                    IMAGES + withoutBlanks(image), new Quantity("64Mi"), new Quantity("50m"), null, null, false));
            TENANT.kubernetes().resource(sandbox).create();
        });
        for (String name : sandboxes.keySet()) {
            await("the condition").atMost(SOON).until(() -> TENANT.sandbox(name)
                    .observed()
                    .reason(ConditionType.READY)
                    .filter(Reason.IMAGE_PULL_FAILED::equals)
                    .isPresent());
            isOurs(readiness(name).getMessage());
        }
        isOurs(agent.call("sandbox_list", Map.of()).text());
    }

    /** As a node writes them: they may be what code said. */
    @Test
    void lastWordsAreCleanInTheCondition() {
        String sandbox = SANDBOXES.start();
        for (String text : texts.some(AnyText.ROUNDS, 300)) {
            String words = "%s %d".formatted(text, System.nanoTime());
            String end = words.substring(words.lastIndexOf(' '));
            // Written until it is seen: the kubelet puts its own status back when it looks.
            await("the last words").atMost(SOON).until(() -> {
                writeLastWords(sandbox, words);
                return readiness(sandbox).getMessage().contains(end);
            });
            isOurs(readiness(sandbox).getMessage());
        }
    }

    private static void writeLastWords(String sandbox, String words) {
        TENANT.changePodStatus(sandbox, pod -> {
            pod.getStatus()
                    .getContainerStatuses()
                    .getFirst()
                    .setState(new ContainerStateBuilder()
                            .withNewTerminated()
                            .withExitCode(1)
                            .withReason("Error")
                            .withMessage(words)
                            .endTerminated()
                            .build());
            return pod;
        });
    }

    @Test
    void outputAndErrorsArriveAsTheyAre() throws Exception {
        int round = 0;
        for (String text : texts.some(4 * AnyText.ROUNDS, 1000)) {
            String inPython = "json.loads(" + JSON.writeValueAsString(JSON.writeValueAsString(text)) + ")";
            Answer shown = agent.python(shared, "import json; json.dumps(" + inPython + ")");
            assertThat(JSON.readValue(unquoted(shown), String.class)).isEqualTo(text);
            raises(agent.python(shared, "import json; raise ValueError(" + inPython + ")"), "ValueError");
            Answer half = agent.python(shared, "print('\\ud800', '\\udfff' * %d)".formatted(++round));
            assertThat(half.status()).as(half.text()).isEqualTo("ok");
            assertThat(half.stdout()).isEqualTo("? " + "?".repeat(round) + "\n");

            String inNode = JSON.writeValueAsString(text);
            String hash = "require('crypto').createHash('sha256').update(%s).digest('hex')".formatted(inNode);
            assertThat(node(shared, "console.log(" + hash + ")").stdout()).isEqualTo(digest(text) + "\n");
            raises(node(shared, "throw new RangeError(" + inNode + " + '\\ud800')"), "RangeError");
            says(agent.python(shared, "import json; print(" + inPython + ")"));
            says(node(shared, "console.log(%1$s, '\\udfff'); %1$s".formatted(inNode)));
        }
        Answer all = agent.call(
                "sandbox_run_code",
                Map.of(
                        "sandbox",
                        shared,
                        "code",
                        "print('\u00e9' * %d)".formatted(AnyText.LONG.length()),
                        "max_output_chars",
                        2 * AnyText.LONG.length()));
        assertThat(all.stdout()).isEqualTo(AnyText.LONG + "\n");
    }

    @Test
    void commandsHearAndSayWhatTheyAreGiven() {
        String echo = "import sys, hashlib; d = lambda b: hashlib.sha256(b).hexdigest();"
                + "print(d(sys.argv[1].encode()), d(sys.stdin.buffer.read()))";
        for (String text : texts.some(2 * AnyText.ROUNDS, 1000)) {
            Answer told = agent.call(
                    "sandbox_run_command",
                    Map.of("sandbox", shared, "command", "python3", "args", List.of("-c", echo, text), "stdin", text));
            assertThat(told.stdout()).isEqualTo(digest(text) + " " + digest(text) + "\n");
            says(agent.call("sandbox_run_command", Map.of("sandbox", shared, "command", "cat", "stdin", text)));
            says(agent.call("sandbox_run_command", Map.of("sandbox", shared, "command", text)));
        }
    }

    @Test
    void namesAndContentsOfFilesArriveAsTheyAre() {
        for (String text : texts.some(2 * AnyText.ROUNDS, 60)) {
            String name = text.replace("/", "_") + ".txt";
            String folder = texts.next(20).replace("/", "_") + "d";
            String path = folder + "/" + name;
            isOurs(done("sandbox_write_file", Map.of("sandbox", shared, "path", name, "content", text)));
            isOurs(done("sandbox_manage_files", Map.of("sandbox", shared, "action", "mkdir", "path", folder)));
            isOurs(done("sandbox_manage_files", Map.of("sandbox", shared, "action", "move", "path", name, "to", path)));
            assertThat(agent.call("sandbox_read_file", Map.of("sandbox", shared, "path", path))
                            .data()
                            .get("content"))
                    .isEqualTo(text);
            isOurs(done("sandbox_list_files", Map.of("sandbox", shared, "path", folder)));
            Answer there = agent.call(
                    "sandbox_run_command",
                    Map.of("sandbox", shared, "command", "cat", "args", List.of(name), "cwd", folder));
            assertThat(there.status()).as(there.text()).isEqualTo("ok");
            isOurs(done("sandbox_manage_files", Map.of("sandbox", shared, "action", "stat", "path", path)));
        }
        agent.python(shared, "for n in b'\\xff', b'\\xed\\xa0\\x80', b'\\xf0\\x9f\\n': open(n, 'w').write('x')");
        isOurs(done("sandbox_list_files", Map.of("sandbox", shared, "recursive", true)));
    }

    @Test
    void whatIsNoNameIsRefusedInWordsOfOurs() {
        for (String text : texts.some(AnyText.ROUNDS, 100)) {
            assertThat(agent.refusal("sandbox_start", Map.of("sandbox", text))).containsIgnoringCase("sandbox name");
            for (String field : List.of("image", "runtime_class", "memory", "idle_timeout", "disk")) {
                refuses("sandbox_start", Map.of("config", Map.of(field, " " + text)));
            }
            for (String field : List.of("volumes", "ports", "allowed_domains")) {
                refuses("sandbox_start", Map.of("config", Map.of(field, List.of(text))));
            }
            refuses("sandbox_start", Map.of("config", Map.of("image", withoutBlanks(text))));
            refuses("sandbox_start", Map.of("config", Map.of("envs", Map.of(text, "x"))));
            refuses("sandbox_run_code", Map.of("code", "1", "envs", Map.of(text, "x")));
            for (String field : List.of("language", "session", "timeout", "namespace", text)) {
                refuses("sandbox_run_code", Map.of("code", "1", field, text));
                refuses("sandbox_reset", Map.of(field, text));
            }
            refuses("sandbox_run_command", Map.of("command", "true", "cwd", text));
            refuses("sandbox_install_packages", Map.of("packages", List.of(text)));
            List.of("sandbox_read_file", "sandbox_list_files").forEach(tool -> refuses(tool, Map.of("path", text)));
            refuses("sandbox_manage_files", Map.of("path", "x", "action", text));
            refuses("mcp_register_server", Map.of("name", text, "command", text));
            isOurs(agent.refusal("sandbox_get_metrics", Map.of("sandbox", text)));
            isOurs(agent.refusal("sandbox_get_execution", Map.of("execution_id", text)));
            isOurs(agent.refusal(text, Map.of()));
        }
    }

    private void refuses(String tool, Map<String, Object> more) {
        var arguments = new LinkedHashMap<String, Object>(Map.of("sandbox", shared));
        arguments.putAll(more);
        isOurs(agent.refusal(tool, arguments));
    }

    private String done(String tool, Map<String, Object> arguments) {
        Answer answer = agent.call(tool, arguments);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.text();
    }

    private Answer node(String sandbox, String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", "nodejs", "code", code));
    }

    /** It may say anything, but every client can read it. */
    private static void says(Answer answer) {
        assertThat(answer.data().get("status")).as(answer.text()).isNotNull();
        canBeRead(answer.text() + answer.data());
    }

    private static void raises(Answer answer, String name) {
        says(answer);
        assertThat(answer.status()).as(answer.text()).isEqualTo("error");
        assertThat(answer.object("error").get("name")).isEqualTo(name);
    }

    private static void isRefused(Consumer<Sandbox> change) {
        KubernetesClientException refused = catchThrowableOfType(
                KubernetesClientException.class,
                () -> TENANT.change(shared, found -> {
                    change.accept(found);
                    return found;
                }));
        assertThat(refused).isNotNull().returns(UNPROCESSABLE, KubernetesClientException::getCode);
    }

    private static Condition readiness(String sandbox) {
        return TENANT.sandbox(sandbox).observed().condition(ConditionType.READY).orElseThrow();
    }

    private static String withoutBlanks(String text) {
        return text.replaceAll("[\\s\u000b]", "_");
    }

    private static String unquoted(Answer shown) throws Exception {
        assertThat(shown.status()).as(shown.text()).isEqualTo("ok");
        // json.dumps is ASCII; repr only puts quotes around it and doubles backslashes.
        String repr = String.valueOf(shown.result());
        return repr.substring(1, repr.length() - 1).replace("\\\\", "\\").replace("\\'", "'");
    }

    private Map<String, String> variablesOf(String sandbox, Map<String, String> ofTheCall) throws Exception {
        String code = "import os, json, hashlib; print(json.dumps({n: hashlib.sha256(v.encode()).hexdigest()"
                + " for n, v in os.environ.items() if n[:2] == 'F_'}))";
        Answer told = agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "envs", ofTheCall));
        return JSON.readValue(told.stdout(), STRINGS);
    }

    private Map<String, String> variables() {
        var all = new LinkedHashMap<String, String>();
        for (String text : AnyText.CLASSIC) {
            all.put("F_" + all.size(), text);
        }
        while (all.size() < 40) {
            all.put("F_" + texts.name(30), texts.next(200));
        }
        all.put("F_" + "x".repeat(EnvRules.MAX_NAME_LENGTH - 2), "\u00e9".repeat(7 * 1024));
        return all;
    }

    private static Map<String, String> digests(Map<String, String> texts) {
        var digests = new LinkedHashMap<String, String>();
        texts.forEach((name, text) -> digests.put(name, digest(text)));
        return digests;
    }
}
