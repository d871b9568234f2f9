package dev.sandglass.gateway.link.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LinkFramesTest {

    private static final Duration MINUTES = Duration.ofMinutes(2);

    static Stream<Arguments> verbs() {
        return Stream.of(
                Arguments.of(
                        new Verb.Hello("gw-1", Set.of()),
                        List.of("{\"verb\":\"hello\",\"protocol\":[1],\"peer\":\"gw-1\",\"file_credit\":true}")),
                Arguments.of(
                        new Verb.Execute(
                                "x1", "python", "default", null, Blob.utf8("é=1"), Map.of("A", "b\"c"), MINUTES, true),
                        List.of("""
                                {"verb":"execute","execution_id":"x1","language":"python","session":"default",\
                                "envs":{"A":"b\\"c"},"timeout_s":120.0,"attach":true}""", "é=1")),
                Arguments.of(
                        new Verb.Execute("x1", "python", "s", "~/envs/é", Blob.utf8("1"), Map.of(), MINUTES, false),
                        List.of("""
                                {"verb":"execute","execution_id":"x1","language":"python","session":"s",\
                                "python_env":"~/envs/é","envs":{},"timeout_s":120.0,"attach":false}""", "1")),
                Arguments.of(
                        new Verb.Command(
                                "x2",
                                "ls",
                                List.of("-l", "a b"),
                                "/tmp",
                                Map.of(),
                                Blob.utf8("in"),
                                Duration.ofMillis(1500),
                                false,
                                false),
                        List.of("""
                                {"verb":"command","execution_id":"x2","command":"ls","args":["-l","a b"],"cwd":"/tmp",\
                                "envs":{},"timeout_s":1.5,"attach":false}""", "in")),
                Arguments.of(
                        new Verb.Command("x3", "ls", List.of(), "", Map.of(), Blob.EMPTY, MINUTES, true, false),
                        List.of("""
                                {"verb":"command","execution_id":"x3","command":"ls","args":[],"envs":{},\
                                "timeout_s":120.0,"attach":true}""")),
                Arguments.of(new Verb.Install("x4", "nodejs", List.of("a@1", "b \"c\""), MINUTES, true), List.of("""
                                {"verb":"install","execution_id":"x4","language":"nodejs","packages":["a@1","b \\"c\\""],\
                                "timeout_s":120.0,"attach":true}""")));
    }

    static Stream<Arguments> verbsAboutExecutions() {
        return Stream.of(
                Arguments.of(
                        new Verb.Attach("x1", 5_000_000_000L),
                        List.of("{\"verb\":\"attach\",\"execution_id\":\"x1\",\"offset\":5000000000}")),
                Arguments.of(new Verb.Detach("x1"), List.of("{\"verb\":\"detach\",\"execution_id\":\"x1\"}")),
                Arguments.of(new Verb.Interrupt("x1"), List.of("{\"verb\":\"interrupt\",\"execution_id\":\"x1\"}")),
                Arguments.of(new Verb.ListAll(), List.of("{\"verb\":\"list\"}")),
                Arguments.of(new Verb.Metrics(), List.of("{\"verb\":\"metrics\"}")));
    }

    private static Stream<Arguments> verbsOfSessions() {
        return Stream.of(
                        new Verb.InterruptSession("python", "s"),
                        new Verb.Reset("python", "s"),
                        new Verb.Close("python", "s"))
                .map(verb -> Arguments.of(
                        verb,
                        List.of("{\"verb\":\"%s\",\"language\":\"python\",\"session\":\"s\"}".formatted(verb.word()))));
    }

    static Stream<Arguments> verbsOfFiles() {
        return Stream.of(
                files(
                        new FileOperation.Read("a b", 5_000_000_000L, 7),
                        "'operation':'read','path':'a b','offset':5000000000,'length':7"),
                files(
                        new FileOperation.Write("a", 3L, Blob.utf8("é")),
                        "'operation':'write','path':'a','offset':3",
                        "é"),
                files(new FileOperation.Write("a", null, Blob.EMPTY), "'operation':'write','path':'a'"),
                files(
                        new FileOperation.ListFolder("", true, 9),
                        "'operation':'list','path':'','recursive':true,'limit':9"),
                files(new FileOperation.MakeFolder("d"), "'operation':'mkdir','path':'d'"),
                files(new FileOperation.Move("a", "b"), "'operation':'move','path':'a','to':'b'"),
                files(new FileOperation.Delete("a", false), "'operation':'delete','path':'a','recursive':false"),
                files(new FileOperation.Stat("a"), "'operation':'stat','path':'a'"));
    }

    private static Arguments files(FileOperation operation, String arguments, String... blob) {
        String json = "{'verb':'files',%s}".formatted(arguments).replace('\'', '"');
        return Arguments.of(
                new Verb.Files(operation),
                Stream.concat(Stream.of(json), Arrays.stream(blob)).toList());
    }

    @ParameterizedTest
    @MethodSource({"verbs", "verbsAboutExecutions", "verbsOfSessions", "verbsOfFiles"})
    void verbsAreAsTheProtocolSays(Verb verb, List<String> expected) {
        List<String> frames = texts(LinkFrames.verb("r7", verb));
        assertThat(frames).startsWith("V", "r7").hasSize(2 + expected.size());
        assertThat(frames.subList(2, frames.size())).isEqualTo(expected);
    }

    @Test
    void creditNamesExecutionAndOffset() {
        assertThat(texts(LinkFrames.credit("x1", 5_000_000_000L))).containsExactly("C", "x1", "5000000000");
    }

    @Test
    void argumentsAboveTheSupervisorsLimitAreRefusedHere() {
        Verb verb = new Verb.Attach("x".repeat(LinkFrames.MAX_JSON), 0);
        assertThatThrownBy(() -> LinkFrames.verb("r", verb))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("at most 262144");
    }

    @Test
    void contentAboveTheSupervisorsLimitIsRefusedHere() {
        byte[] largest = new byte[LinkFrames.MAX_BLOB];
        assertThat(LinkFrames.verb("r", code(largest))).hasNumberOfRows(4);
        assertThatThrownBy(() -> LinkFrames.verb("r", code(new byte[LinkFrames.MAX_BLOB + 1])))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("8388609 bytes");
    }

    @Test
    void textFormsTellNoSecrets() {
        Verb code =
                new Verb.Execute("x1", "python", "s", null, Blob.utf8("secret"), Map.of("K", "secret"), MINUTES, true);
        Verb command = new Verb.Command(
                "x", "c", List.of("secret"), "", Map.of("K", "secret"), Blob.EMPTY, MINUTES, true, false);
        Verb write = new Verb.Files(new FileOperation.Write("a", null, Blob.utf8("secret")));
        assertThat(code.toString() + command + write).doesNotContain("secret").contains("x1");
    }

    private static Verb code(byte[] code) {
        return new Verb.Execute("x", "python", "default", null, Blob.of(code), Map.of(), MINUTES, true);
    }

    private static List<String> texts(byte[][] frames) {
        return Arrays.stream(frames)
                .map(frame -> new String(frame, StandardCharsets.UTF_8))
                .toList();
    }

    /** Code in that pod could read them. */
    @Test
    void aServerBesideCodeGetsNothingFromSecrets() {
        var secrets = Map.of("TOKEN", new SecretEntry("sandglass-mcp-web", "token"));
        var registration = new Registration.Command("web", "npx", List.of(), Map.of(), "", MINUTES, secrets);

        assertThatThrownBy(() -> new Verb.RegisterServer(registration)).isInstanceOf(IllegalArgumentException.class);
        assertThat(new Verb.RegisterServer(registration, false, "1").registration())
                .isSameAs(registration);
    }
}
