package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.http.UnreadableRequests;
import dev.sandglass.gateway.testing.TestGateway;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whatever is refused, and by which part of the server, is refused in words, in the form of the endpoint. */
@ExtendWith(OutputCaptureExtension.class)
class RefusedRequestsTest {

    private static final String HOST = "Host: localhost\r\n";
    private static final String KEY = "Authorization: Bearer " + TestGateway.KEY + "\r\n";
    private static final String SECRET = "s3cr3t";
    private static final int SOON_MS = 20_000;
    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    /** What comes until the gateway ends the connection. */
    private static String exchange(String request) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            socket.setSoTimeout(SOON_MS);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String body(String answer) {
        return answer.substring(answer.indexOf("\r\n\r\n") + 4);
    }

    private static String words(String answer, int status) {
        assertThat(answer)
                .startsWith("HTTP/1.1 " + status + " ")
                .containsIgnoringCase("\r\ncontent-type: application/json\r\n")
                .containsIgnoringCase("\r\ncache-control: no-store\r\n")
                .containsIgnoringCase("\r\nx-content-type-options: nosniff\r\n")
                .containsIgnoringCase("\r\ncontent-length: " + body(answer).length() + "\r\n")
                .doesNotContain(SECRET)
                .hasSizeLessThan(1000);
        JsonNode error = JsonMapper.shared().readTree(body(answer));
        assertThat(error.path("jsonrpc").asString()).isEqualTo("2.0");
        assertThat(error.has("id")).isFalse();
        assertThat(error.path("error").path("code").asInt()).isEqualTo(-32600);
        return error.path("error").path("message").asString();
    }

    static Stream<Arguments> unreadable() {
        String chunked = "POST /mcp HTTP/1.1\r\n" + HOST + KEY + "Transfer-Encoding: chunked\r\n\r\n";
        return Stream.of(
                Arguments.of("no request line", SECRET + "\r\n\r\n", "the first line must be METHOD TARGET HTTP/1.1"),
                Arguments.of(
                        "no version", "GET /" + SECRET + "\r\n\r\n", "the first line must be METHOD TARGET HTTP/1.1"),
                Arguments.of(
                        "another protocol",
                        "GET / " + SECRET + "/1.1\r\n\r\n",
                        "the first line must be METHOD TARGET HTTP/1.1"),
                Arguments.of(
                        "HTTP/2 at once",
                        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SECRET,
                        "HTTP/2 is not served at this port; use HTTP/1.1"),
                Arguments.of(
                        "no name of a header",
                        "POST /mcp HTTP/1.1\r\n" + HOST + ": " + SECRET + "\r\n\r\n",
                        "the headers cannot be read"),
                Arguments.of(
                        "a space in a name",
                        "POST /mcp HTTP/1.1\r\n" + HOST + SECRET + " a: b\r\n\r\n",
                        "the headers cannot be read"),
                Arguments.of(
                        "a length that is none",
                        "POST /mcp HTTP/1.1\r\n" + HOST + "Content-Length: " + SECRET + "\r\n\r\n",
                        "the headers cannot be read"),
                Arguments.of(
                        "two lengths",
                        "POST /mcp HTTP/1.1\r\n" + HOST + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n" + SECRET,
                        "the headers cannot be read"),
                Arguments.of(
                        "a host that is none",
                        "POST /mcp HTTP/1.1\r\nHost: a:" + SECRET + "\r\n\r\n",
                        "the headers cannot be read"),
                Arguments.of("a chunk without length", chunked + SECRET + "\r\n", "the body's chunks cannot be read"),
                Arguments.of(
                        "a chunk that goes on",
                        chunked + "2\r\n{}" + SECRET + "\r\n",
                        "the body's chunks cannot be read"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("unreadable")
    void whatIsNoHttpIsABadRequestInWords(String what, String request, String rule) throws Exception {
        assertThat(words(exchange(request), 400)).startsWith("Invalid request: " + rule);
    }

    /** The server has answered by itself; a second answer would be a fault, with a trace in the log as often as a caller likes. */
    @Test
    void aBodyThatCannotBeReadIsNoFaultOfTheGateway(CapturedOutput output) throws Exception {
        String chunked = post("Transfer-Encoding: chunked\r\n");

        assertThat(words(exchange(chunked + "2\r\n{}" + SECRET), 400)).contains("chunks");
        assertThat(words(exchange(chunked + "zz\r\n"), 400)).contains("chunks");

        assertThat(output.getAll()).doesNotContain("ERROR", "Status and headers already sent");
    }

    private static String line(int bytes) {
        String rest = "GET /" + SECRET + " HTTP/1.1";
        return "GET /" + SECRET + "a".repeat(bytes - rest.length()) + " HTTP/1.1\r\n";
    }

    @Test
    void aRequestLineAtTheBoundIsReadAndOneByteMoreIsTooLong() throws Exception {
        String rest = HOST + "Connection: close\r\n\r\n";

        assertThat(exchange(line(UnreadableRequests.MAX_LINE_BYTES) + rest)).startsWith("HTTP/1.1 404 ");
        assertThat(words(exchange(line(UnreadableRequests.MAX_LINE_BYTES + 1) + rest), 414))
                .isEqualTo("Invalid request: the request line has more than 8192 bytes; shorten the URL's query");
    }

    private static String headers(int bytes) {
        String first = "Connection: close";
        return first + "\r\nA: " + SECRET + "a".repeat(bytes - first.length() - "A: ".length() - SECRET.length())
                + "\r\n\r\n";
    }

    @Test
    void headersAtTheBoundAreReadAndOneByteMoreIsTooLong() throws Exception {
        String line = "GET /other HTTP/1.1\r\n";

        assertThat(exchange(line + headers(UnreadableRequests.MAX_HEADERS_BYTES)))
                .startsWith("HTTP/1.1 404 ");
        assertThat(words(exchange(line + headers(UnreadableRequests.MAX_HEADERS_BYTES + 1)), 431))
                .isEqualTo(
                        "Invalid request: the headers have more than 8192 bytes together; send fewer or shorter ones");
    }

    /** More than the system holds: its sender would find the connection reset, and no answer. */
    @Test
    void aClientThatStillSendsReadsTheAnswer() throws Exception {
        assertThat(words(exchange(line(2 * 1024 * 1024)), 414)).contains("shorten the URL's query");
    }

    @Test
    void aRequestBehindOthersIsRefusedAfterTheirAnswers() throws Exception {
        String good = "GET /other HTTP/1.1\r\n" + HOST + "\r\n";

        String answers = exchange(good + good + "GET " + SECRET + "\r\n\r\n");

        assertThat(answers.split("(?=HTTP/1[.]1 4)", -1))
                .satisfiesExactly(
                        first -> assertThat(words(first, 404)).startsWith("Not found"),
                        second -> assertThat(words(second, 404)).startsWith("Not found"),
                        third -> assertThat(words(third, 400)).contains("the first line must be"));
    }

    /** There the form is another, and a browser's. */
    @Test
    void thePathsOfPortsKeepTheirAnswers() throws Exception {
        String port = "GET /sandboxes/default/box/ports/3000/ HTTP/1.1\r\n";

        assertThat(exchange(port + headers(UnreadableRequests.MAX_HEADERS_BYTES + 1)))
                .startsWith("HTTP/1.1 431 ")
                .endsWith("\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /s3cr3t",
                "POST /s3cr3t",
                "POST /",
                "GET /mcp/s3cr3t",
                "GET /favicon.ico",
                "GET //mcp",
                "GET *"
            })
    void atOtherPathsNothingIsFoundInWords(String begin) throws Exception {
        assertThat(words(exchange(begin + " HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n"), 404))
                .isEqualTo("Not found: nothing is served at this path with this method; POST MCP's messages to /mcp");
    }

    @Test
    void whereABodyComesItIsNotWaitedForAtOtherPaths() throws Exception {
        String answer = exchange("POST /other HTTP/1.1\r\n" + HOST + "Content-Length: 1000000\r\n\r\nhalf");

        assertThat(words(answer, 404)).startsWith("Not found");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "S3CR3T"})
    void otherMethodsOfTheEndpointAreRefusedInWords(String method) throws Exception {
        String answer = exchange(method + " /mcp HTTP/1.1\r\n" + HOST + KEY + "Connection: close\r\n\r\n");

        assertThat(answer).containsIgnoringCase("\r\nallow: POST\r\n").doesNotContain("S3CR3T");
        assertThat(words(answer, 405))
                .isEqualTo("Method not allowed: POST one message of JSON-RPC; there is no stream to GET");
    }

    @Test
    void whereSessionsEndTheRefusalSaysHow() throws Exception {
        String answer = exchange("GET /mcp/ipython HTTP/1.1\r\n" + HOST + KEY + "Connection: close\r\n\r\n");

        assertThat(answer).containsIgnoringCase("\r\nallow: POST, DELETE\r\n");
        assertThat(words(answer, 405)).endsWith("DELETE ends the session that the header Mcp-Session-Id names");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mcp", "/other"})
    void anAnswerToHeadHasNoBody(String path) throws Exception {
        assertThat(exchange("HEAD " + path + " HTTP/1.1\r\n" + HOST + KEY + "Connection: close\r\n\r\n"))
                .matches("(?s)HTTP/1.1 40[45] .*\r\n\r\n")
                .containsIgnoringCase("\r\ncontent-type: application/json\r\n");
    }

    private static String post(String headers) {
        return "POST /mcp HTTP/1.1\r\n" + HOST + KEY + headers + "\r\n";
    }

    @Test
    void aBodyThatIsDeclaredTooLargeIsRefusedBeforeItComes() throws Exception {
        for (String length : new String[] {"65537", "2147483648", "9223372036854775807"}) {
            assertThat(words(exchange(post("Content-Length: " + length + "\r\n")), 413))
                    .isEqualTo("Invalid request: the body has more than 65536 bytes; write large files in parts");
        }
    }

    @Test
    void anExpectationOtherThanToGoOnIsRefused() throws Exception {
        String answer = exchange(post("Content-Length: 2\r\nExpect: " + SECRET + "\r\n") + "{}");

        assertThat(words(answer, 417)).isEqualTo("Invalid request: header Expect must be 100-continue or be left out");
    }

    @Test
    void aClientThatWaitsToGoOnIsTold() throws Exception {
        String message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        String head = post("Content-Length: " + message.length() + "\r\nExpect: 100-Continue\r\nConnection: close\r\n");

        assertThat(exchange(head + message))
                .startsWith("HTTP/1.1 100 Continue\r\n")
                .contains("\r\n\r\nHTTP/1.1 200 OK\r\n")
                .endsWith("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    }
}
