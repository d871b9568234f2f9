package dev.sandglass.gateway.contract.sandglass.resource;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.action.RunningFolders;
import dev.sandglass.gateway.contract.Completions;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is offered to someone who types an argument. */
class CompletionsContractTest {

    private static final Map<String, Object> TEMPLATE = Map.of("type", "ref/resource", "uri", SandboxUri.TEMPLATE);
    private static final Map<String, Object> PROMPT = Map.of("type", "ref/prompt", "name", "create_python_sandbox");
    private static final Map<String, String> BOX = Map.of("namespace", "default", "sandbox", "box");

    private final JsonMapper json = JsonMapper.shared();
    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode ask(String key, Map<String, Object> ref, String argument, String typed, Map<String, String> others)
            throws Exception {
        var params = Map.of(
                "ref",
                ref,
                "argument",
                Map.of("name", argument, "value", typed),
                "context",
                Map.of("arguments", others));
        String body = json.writeValueAsString(
                Map.of("jsonrpc", "2.0", "id", 1, "method", "completion/complete", "params", params));
        return gateway.json(gateway.send(gateway.post(body).setHeader("Authorization", "Bearer " + key)));
    }

    private List<String> values(Map<String, Object> ref, String argument, String typed, Map<String, String> others)
            throws Exception {
        JsonNode completion = ask(TestGateway.KEY, ref, argument, typed, others).at("/result/completion");
        assertThat(completion.isObject()).isTrue();
        return completion.path("values").valueStream().map(JsonNode::asString).toList();
    }

    private List<String> paths(String typed) throws Exception {
        return values(TEMPLATE, "path", typed, BOX);
    }

    private void folder(boolean truncated, String... entries) {
        String list = IntStream.range(0, entries.length)
                .mapToObj(i -> "{\"path\":%s,\"type\":\"%s\"}"
                        .formatted(
                                json.writeValueAsString(entries[i].replaceAll("/$", "")),
                                entries[i].endsWith("/") ? "folder" : "file"))
                .collect(Collectors.joining(",", "[", "]"));
        gateway.supervisor.files.answerNext(
                "{\"truncated\":%s}".formatted(truncated), list.getBytes(StandardCharsets.UTF_8));
    }

    private void asleep(String name) {
        var ref = new SandboxRef("default", "sandglass-default", name, name);
        gateway.sandboxes.put(new SandboxState.Asleep(ref, "uid-" + name, "Idle"));
    }

    @Test
    void namespacesAreThoseOfTheCaller() throws Exception {
        for (var ref : List.of(TEMPLATE, PROMPT)) {
            assertThat(values(ref, "namespace", "", Map.of())).containsExactly("default");
            assertThat(values(ref, "namespace", "def", Map.of())).containsExactly("default");
            assertThat(values(ref, "namespace", "o", Map.of())).isEmpty();
        }
        assertThat(ask(TestGateway.OTHER_KEY, PROMPT, "namespace", "", Map.of())
                        .at("/result/completion/values/0")
                        .asString())
                .isEqualTo("other");
    }

    @ParameterizedTest
    @CsvSource({"sandbox", "sandbox_name"})
    void sandboxesAreThoseOfTheNamespace(String argument) throws Exception {
        var ref = argument.equals("sandbox") ? TEMPLATE : PROMPT;
        gateway.sandboxes.addRunningOfOther("secret");
        asleep("bag");

        for (var others : List.of(Map.<String, String>of(), Map.of("namespace", ""), Map.of("namespace", "default"))) {
            assertThat(values(ref, argument, "b", others)).containsExactly("bag", "box");
            assertThat(values(ref, argument, "bo", others)).containsExactly("box");
        }
        // One that is not the caller's is as one that is not there.
        for (String namespace : List.of("other", "nowhere", "*", "../x")) {
            assertThat(values(ref, argument, "", Map.of("namespace", namespace)))
                    .isEmpty();
        }
    }

    @Test
    void aHundredValuesAreGivenAndTheOthersCounted() throws Exception {
        IntStream.range(1, Completions.MOST_VALUES).forEach(i -> gateway.sandboxes.addRunning("s%03d".formatted(i)));
        JsonNode most = ask(TestGateway.KEY, TEMPLATE, "sandbox", "", Map.of()).at("/result/completion");
        assertThat(most.path("values").size()).isEqualTo(100);
        assertThat(most.path("hasMore").asBoolean(true)).isFalse();

        gateway.sandboxes.addRunning("zz");
        JsonNode more = ask(TestGateway.KEY, TEMPLATE, "sandbox", "", Map.of()).at("/result/completion");
        assertThat(more.path("values").size()).isEqualTo(100);
        assertThat(more.path("total").asInt()).isEqualTo(101);
        assertThat(more.path("hasMore").asBoolean()).isTrue();
    }

    @Test
    void pathsAreCompletedFolderByFolder() throws Exception {
        folder(false, "data/", "date.txt", "other");
        assertThat(paths("dat")).containsExactly("data/", "date.txt");
        folder(false, "2026.csv", "2027/");
        assertThat(paths("data/my%20files/202")).containsExactly("data/my%20files/2026.csv", "data/my%20files/2027/");

        assertThat(gateway.supervisor.files.asked)
                .containsExactly(
                        new FileOperation.ListFolder("", false, RunningFolders.MOST_ENTRIES),
                        new FileOperation.ListFolder("data/my files", false, RunningFolders.MOST_ENTRIES));
        assertThat(gateway.sandboxes.busy).isEmpty();
    }

    /** Whatever a value has, the template makes the URI of that file of it. */
    @Test
    void aValueIsWrittenAsTheTemplateNeedsIt() throws Exception {
        folder(false, "a b", "é", "100%", "%41", "q?", "h#", "odd\u202e\n");

        assertThat(paths("")).containsExactly("a b", "é", "100%", "%2541", "q%3F", "h%23", "odd%E2%80%AE%0A");
    }

    @Test
    void aHomeFolderIsANameAsAnyOther() throws Exception {
        folder(false, "a");
        assertThat(paths("~/")).containsExactly("~/a");
        assertThat(gateway.supervisor.files.asked)
                .containsExactly(new FileOperation.ListFolder("./~", false, RunningFolders.MOST_ENTRIES));
    }

    @Test
    void aFolderThatIsNotReadToItsEndHasNoTotal() throws Exception {
        folder(true, "a");
        JsonNode completion = ask(TestGateway.KEY, TEMPLATE, "path", "", BOX).at("/result/completion");

        assertThat(completion.has("total")).isFalse();
        assertThat(completion.path("hasMore").asBoolean()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/etc/", "../", "a/../", "%2e%2e/", "%2e%2e%2f/", "a//", "./", "%00/", "%ff/", "a?/"})
    void noPathLeadsElsewhere(String typed) throws Exception {
        assertThat(paths(typed)).isEmpty();
        assertThat(gateway.supervisor.files.asked).isEmpty();
    }

    @Test
    void aTypedPathIsBounded() {
        assertThat(TypedPath.of("a".repeat(SandboxUri.MAX_CHARS))).isPresent();
        assertThat(TypedPath.of("a".repeat(SandboxUri.MAX_CHARS + 1))).isEmpty();
        assertThat(TypedPath.of("a".repeat(SandboxUri.MAX_PATH_BYTES) + "/")).isPresent();
        assertThat(TypedPath.of("a".repeat(SandboxUri.MAX_PATH_BYTES + 1) + "/"))
                .isEmpty();
    }

    @Tag("slow")
    @Test
    void noSandboxIsResumedOrAwaited() throws Exception {
        asleep("box");
        assertThat(paths("")).isEmpty();
        assertThat(gateway.sandboxes.orders).isEmpty();

        stop();
        gateway = TestGateway.hasty();
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.silenceLists(1);
        assertThat(paths("")).isEmpty();
    }

    @Test
    void pathsOfOthersAreNone() throws Exception {
        gateway.sandboxes.addRunningOfOther("secret");
        gateway.supervisor.files.put("a", "");

        for (var others : List.of(
                Map.<String, String>of(),
                Map.of("namespace", "default"),
                Map.of("sandbox", "none"),
                Map.of("sandbox", "../x"),
                Map.of("namespace", "other", "sandbox", "other-secret"))) {
            assertThat(values(TEMPLATE, "path", "", others)).isEmpty();
        }
        assertThat(gateway.supervisor.files.asked).isEmpty();
        assertThat(values(TEMPLATE, "path", "", Map.of("sandbox", "box"))).containsExactly("a");
    }

    @Test
    void whatIsNotKnownIsRefusedInWords() throws Exception {
        assertThat(refusal(Map.of("type", "ref/prompt", "name", "nope"), "namespace"))
                .isEqualTo("Prompt 'nope' not found");
        assertThat(refusal(Map.of("type", "ref/resource", "uri", "sandbox://default/box/a"), "path"))
                .isEqualTo("Resource template 'sandbox://default/box/a' not found");
        assertThat(refusal(TEMPLATE, "sandbox_name"))
                .isEqualTo("'argument.name' must be one of namespace, sandbox, path, is 'sandbox_name'");
        assertThat(refusal(PROMPT, "path"))
                .isEqualTo("'argument.name' must be one of sandbox_name, namespace, is 'path'");
    }

    private String refusal(Map<String, Object> ref, String argument) throws Exception {
        JsonNode error = ask(TestGateway.KEY, ref, argument, "", Map.of()).path("error");
        assertThat(error.path("code").asInt()).isEqualTo(-32602);
        return error.path("message").asString();
    }
}
