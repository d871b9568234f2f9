package dev.sandglass.gateway.link.frame;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.RecordedFrames.Recorded;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * The link's frames against what is recorded: the supervisor's as its tests write them, ours as its tests read them. With
 * {@code -Dsandglass.generate=true} ours are written instead of compared.
 */
class RecordedFramesTest {

    private static final String ID = "default.0b8a6a6e-51a8-4f5c-9a8e-0f6f5f9f2f11.1.abcdefghijklmnop";
    private static final Duration MINUTES = Duration.ofMinutes(2);
    private static final SecretEntry TOKEN = new SecretEntry("sandglass-mcp-web", "token");

    static List<Recorded> fromSupervisor() throws IOException {
        return RecordedFrames.load(RecordedFrames.FROM_SUPERVISOR);
    }

    @ParameterizedTest
    @MethodSource("fromSupervisor")
    void whatASupervisorSaysIsUnderstood(Recorded recorded) {
        assertThat(Meaning.of(InboundFrames.decode(recorded.frames()))).isEqualTo(recorded.means());
    }

    @Test
    void everyKindOfMessageIsRecorded() throws IOException {
        assertThat(fromSupervisor())
                .extracting(entry -> entry.means().path("message").asString())
                .contains("reply", "refusal", "output", "event", "call", "withdrawal");
        assertThat(fromSupervisor())
                .extracting(entry -> entry.means().path("kind").asString(""))
                .contains("stdout", "stderr", "result", "display", "error", "gap", "outcome");
    }

    @Test
    void whatWeSayIsRecorded() throws IOException {
        String now = RecordedFrames.render(fromGateway());
        if (Boolean.getBoolean("sandglass.generate")) {
            RecordedFrames.write(RecordedFrames.FROM_GATEWAY, now);
        }
        assertThat(RecordedFrames.text(RecordedFrames.FROM_GATEWAY))
                .as("if the change is meant, run: make generate")
                .isEqualTo(now);
    }

    private static List<Recorded> fromGateway() {
        return Stream.of(configurations(), code(), runs(), others(), files(), servers(), serversWithSecrets(), calls())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Recorded> configurations() {
        var first = new Verb.Configure("5ea7-uid", 1, Map.of(), null);
        var later = new Verb.Configure("5ea7-uid", 7, Map.of("A", "b\"c é $(A)"), "Evicted");
        return List.of(verb("", first, """
                        "sandbox_uid":"5ea7-uid","incarnation":1,"env":{},"lost":null"""), verb("after a loss", later, """
                        "sandbox_uid":"5ea7-uid","incarnation":7,"env":{"A":"b\\"c é $(A)"},"lost":"Evicted\""""));
    }

    private static List<Recorded> code() {
        Map<String, String> envs = Map.of("A", "b\"c é");
        Blob code = Blob.utf8("é = '😀'\n");
        return List.of(
                verb("execute", new Verb.Execute(ID, "nodejs", "s-1", null, code, envs, MINUTES, true), """
                        "execution_id":"ID","language":"nodejs","session":"s-1","code":"é = '😀'\\n",\
                        "envs":{"A":"b\\"c é"},"timeout_s":120.0,"block":true,"attach":true,"wait_kernel":true,\
                        "python_env":null,"label":null,"fresh":false,"servers":[]"""),
                verb(
                        "other Python",
                        new Verb.Execute(
                                ID,
                                "python",
                                "s",
                                "two é",
                                true,
                                List.of("one", "two"),
                                "~/é",
                                Blob.EMPTY,
                                Map.of(),
                                MINUTES,
                                false),
                        """
                        "execution_id":"ID","language":"python","session":"s","code":"",\
                        "envs":{},"timeout_s":120.0,"block":true,"attach":false,"wait_kernel":true,\
                        "python_env":"~/é","label":"two é","fresh":true,"servers":["one","two"]"""));
    }

    private static List<Recorded> runs() {
        Map<String, String> envs = Map.of("A", "b\"c é");
        Blob stdin = Blob.of(new byte[] {0, -1});
        List<String> args = List.of("-l", "a b", "");
        Duration brief = Duration.ofMillis(1500);
        return List.of(
                verb("", new Verb.Install(ID, "nodejs", List.of("a@1", "b \"é\""), MINUTES, true), """
                        "execution_id":"ID","language":"nodejs","packages":["a@1","b \\"é\\""],\
                        "timeout_s":120.0,"block":true,"attach":true"""),
                verb("command", new Verb.Command(ID, "ls", args, "/tmp", envs, stdin, brief, false, false), """
                        "execution_id":"ID","argv":["ls","-l","a b",""],"cwd":"/tmp","envs":{"A":"b\\"c é"},\
                        "stdin":"hex:00ff","timeout_s":1.5,"block":true,"attach":false,"shell_line":false"""),
                verb(
                        "short",
                        new Verb.Command(ID, "ls", List.of(), "", Map.of(), Blob.EMPTY, MINUTES, true, false),
                        """
                        "execution_id":"ID","argv":["ls"],"cwd":"/workspace","envs":{},"stdin":"",\
                        "timeout_s":120.0,"block":true,"attach":true,"shell_line":false"""),
                verb(
                        "line",
                        new Verb.Command(
                                ID, "sh", List.of("-c", "é | x"), "", Map.of(), Blob.EMPTY, MINUTES, true, true),
                        """
                        "execution_id":"ID","argv":["sh","-c","é | x"],"cwd":"/workspace","envs":{},"stdin":"",\
                        "timeout_s":120.0,"block":true,"attach":true,"shell_line":true"""));
    }

    private static List<Recorded> others() {
        String session = "\"language\":\"python\",\"session\":\"s_1\"";
        String execution = "\"execution_id\":\"ID\"";
        String credit = "{\"message\":\"credit\",\"execution_id\":\"%s\",\"offset\":5000000000}".formatted(ID);
        String ofFiles = "{\"message\":\"credit\",\"execution_id\":\"/files\",\"offset\":7}";
        return List.of(
                verb("", new Verb.Hello("gw-1", Set.of()), "\"protocol\":[1],\"peer\":\"gw-1\",\"file_credit\":true"),
                verb(
                        "that answers calls",
                        new Verb.Hello("gw-1", Set.of("tool", "approval")),
                        "\"protocol\":[1],\"peer\":\"gw-1\",\"file_credit\":true,\"calls\":[\"approval\",\"tool\"]"),
                verb("", new Verb.Attach(ID, 5_000_000_000L), execution + ",\"offset\":5000000000"),
                verb("", new Verb.Detach(ID), execution),
                verb("an execution", new Verb.Interrupt(ID), execution),
                verb("a session", new Verb.InterruptSession("python", "s_1"), session),
                verb("", new Verb.Reset("python", "s_1"), session),
                verb("", new Verb.Close("python", "s_1"), session),
                verb("", new Verb.ListAll(), ""),
                verb("", new Verb.Metrics(), ""),
                new Recorded(
                        "credit", Arrays.asList(LinkFrames.credit(ID, 5_000_000_000L)), RecordedFrames.json(credit)),
                new Recorded(
                        "credit for files",
                        Arrays.asList(LinkFrames.credit(LinkFrames.FILES, 7)),
                        RecordedFrames.json(ofFiles)));
    }

    private static List<Recorded> servers() {
        Map<String, String> env = Map.of("A", "b\"c é");
        List<String> args = List.of("-y", "a b", "");
        Duration brief = Duration.ofMillis(1500);
        var command = new Registration.Command("web", "npx", args, env, "/tmp", MINUTES);
        var plain = new Registration.Command("web_2", "server", List.of(), Map.of(), "", brief);
        var url = new Registration.Url(
                "web", "https://mcp.example.com/a?b=c", Map.of("X-Key", "k"), Registration.Transport.SSE, MINUTES);
        return List.of(
                verb("command", new Verb.RegisterServer(command), """
                        "name":"web","target":{"argv":["npx","-y","a b",""],"env":{"A":"b\\"c é"},"cwd":"/tmp"},\
                        "timeout_s":120.0"""),
                verb("short", new Verb.RegisterServer(plain), """
                        "name":"web_2","target":{"argv":["server"],"env":{},"cwd":"/workspace"},"timeout_s":1.5"""),
                verb("url", new Verb.RegisterServer(url), """
                        "name":"web","target":{"url":"https://mcp.example.com/a?b=c","headers":{"X-Key":"k"},\
                        "transport":"sse"},"timeout_s":120.0"""),
                verb("shared", new Verb.RegisterServer(plain, false, "uid-1.2"), """
                        "name":"web_2","target":{"argv":["server"],"env":{},"cwd":"/workspace"},"timeout_s":1.5,\
                        "api":false,"revision":"uid-1.2\""""),
                verb("", new Verb.ListServers(), ""),
                verb("", new Verb.RemoveServer("web"), "\"name\":\"web\""),
                verb("", new Verb.ListServerTools("web"), "\"server\":\"web\""),
                verb("", new Verb.WriteFunctions("web", Blob.utf8("{\"tools\":[{\"name\":\"é\"}]}")), """
                        "name":"web","tools":[{"name":"é"}]"""),
                verb(
                        "",
                        new Verb.CallServerTool("web", "search é", "1f", brief, 16, Blob.utf8("{\"words\":\"é\"}")),
                        """
                        "call_id":"1f","server":"web","tool":"search é","arguments":{"words":"é"},"timeout_s":1.5,\
                        "at_once":16"""),
                verb("", new Verb.CancelServerCall("1f"), "\"call_id\":\"1f\""));
    }

    private static List<Recorded> serversWithSecrets() {
        var fromSecrets = new Registration.Command(
                "web", "npx", List.of(), Map.of("A", "b"), "/tmp", MINUTES, Map.of("TOKEN", TOKEN));
        var headerFromSecret = new Registration.Url(
                "web",
                "https://mcp.example.com/",
                Map.of(),
                Registration.Transport.STREAMABLE_HTTP,
                MINUTES,
                Map.of("Authorization", TOKEN));
        return List.of(
                verb("secret variables", new Verb.RegisterServer(fromSecrets, false, "uid-1.3"), """
                        "name":"web","target":{"argv":["npx"],"env":{"A":"b"},"cwd":"/tmp",\
                        "secret_env":{"TOKEN":{"secret":"sandglass-mcp-web","key":"token"}}},"timeout_s":120.0,\
                        "api":false,"revision":"uid-1.3\""""),
                verb("secret headers", new Verb.RegisterServer(headerFromSecret, false, "uid-1.4"), """
                        "name":"web","target":{"url":"https://mcp.example.com/","headers":{},\
                        "transport":"streamable_http",\
                        "secret_headers":{"Authorization":{"secret":"sandglass-mcp-web","key":"token"}}},\
                        "timeout_s":120.0,"api":false,"revision":"uid-1.4\""""));
    }

    private static List<Recorded> calls() {
        var answer = new Answer(RecordedFrames.json("{\"text\":\"é\"}"), Blob.of(new byte[] {0, -1}));
        var plain = new Answer(RecordedFrames.json("{}"), Blob.EMPTY);
        return List.of(
                new Recorded(
                        "answer to a call",
                        Arrays.asList(LinkFrames.returned("1f", answer)),
                        RecordedFrames.json(
                                "{\"message\":\"returned\",\"call_id\":\"1f\",\"json\":{\"text\":\"é\"},\"blob\":\"hex:00ff\"}")),
                new Recorded(
                        "empty answer to a call",
                        Arrays.asList(LinkFrames.returned("1f", plain)),
                        RecordedFrames.json("{\"message\":\"returned\",\"call_id\":\"1f\",\"json\":{},\"blob\":\"\"}")),
                new Recorded(
                        "problem of a call",
                        Arrays.asList(LinkFrames.problem("1f", "not_allowed", "the rules of 'é' forbid it")),
                        RecordedFrames.json(
                                "{\"message\":\"problem\",\"call_id\":\"1f\",\"code\":\"not_allowed\",\"text\":\"the rules of 'é' forbid it\"}")));
    }

    private static List<Recorded> files() {
        return Stream.of(
                        Map.entry(
                                new FileOperation.Read("a b", 5_000_000_000L, 7), "\"offset\":5000000000,\"length\":7"),
                        Map.entry(
                                new FileOperation.Write("é", 3L, Blob.of(new byte[] {-1})),
                                "\"offset\":3,\"content\":\"hex:ff\""),
                        Map.entry(new FileOperation.Write("a", null, Blob.utf8("é")), "\"content\":\"é\""),
                        Map.entry(new FileOperation.ListFolder("", true, 9), "\"recursive\":true,\"limit\":9"),
                        Map.entry(new FileOperation.MakeFolder("d"), ""),
                        Map.entry(new FileOperation.Move("a", "b"), "\"to\":\"b\""),
                        Map.entry(new FileOperation.Delete("a", true), "\"recursive\":true"),
                        Map.entry(new FileOperation.Stat("a"), ""))
                .map(each -> file(each.getKey(), each.getValue()))
                .toList();
    }

    /** What is not given has the supervisor's default. */
    private static Recorded file(FileOperation operation, String given) {
        ObjectNode means = RecordedFrames.json("""
                {"operation":"%s","path":"%s","to":"","offset":null,"length":1048576,"recursive":false,"limit":1000,\
                "content":""}""".formatted(operation.word(), operation.path()));
        means.setAll(RecordedFrames.json("{" + given + "}"));
        return recorded(operation.word(), new Verb.Files(operation), means);
    }

    private static Recorded verb(String name, Verb verb, String arguments) {
        return recorded(name, verb, RecordedFrames.json("{" + arguments.replace("ID", ID) + "}"));
    }

    private static Recorded recorded(String name, Verb verb, ObjectNode arguments) {
        ObjectNode means = RecordedFrames.json(
                "{\"message\":\"request\",\"request_id\":\"r7\",\"verb\":\"%s\"}".formatted(verb.word()));
        means.setAll(arguments);
        return new Recorded((verb.word() + " " + name).strip(), Arrays.asList(LinkFrames.verb("r7", verb)), means);
    }
}
