package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** In which form a message may come, and in which its answer goes: docs/protocol.md, "Form of requests and answers". */
class MediaTypesTest {

    private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    private static final String JSON = "application/json";
    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    /** With no header but the key. */
    private static HttpRequest.Builder bare(byte[] body) {
        return HttpRequest.newBuilder(URI.create(gateway.base() + "/mcp"))
                .header("Authorization", "Bearer " + TestGateway.KEY)
                .POST(BodyPublishers.ofByteArray(body));
    }

    private static HttpRequest.Builder list() {
        return bare(LIST.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertTaken(HttpRequest.Builder request, String type) throws Exception {
        HttpResponse<String> answer = gateway.send(request);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains(type);
        assertThat(answer.body()).contains("sandbox_start");
    }

    private static String refused(HttpRequest.Builder request, int status, int code) throws Exception {
        HttpResponse<String> answer = gateway.send(request);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(answer.headers().firstValue("Content-Type")).contains(JSON);
        JsonNode error = gateway.json(answer).path("error");
        assertThat(error.path("code").asInt()).isEqualTo(code);
        return error.path("message").asString();
    }

    @Test
    void aClientThatSaysNeitherWhatItSendsNorWhatItTakesIsAnsweredInJson() throws Exception {
        assertTaken(list(), JSON);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*/*",
                "application/*",
                "text/html, */*;q=0.1",
                "application/json",
                "application/json, text/event-stream"
            })
    void whatTakesJsonIsAnsweredInJson(String accept) throws Exception {
        assertTaken(list().header("Accept", accept), JSON);
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/event-stream", "text/*", "application/json;q=0, */*"})
    void whatTakesNoJsonIsAnsweredInAStream(String accept) throws Exception {
        assertTaken(list().header("Accept", accept), "text/event-stream");
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/html", "image/*", "*/*;q=0", "application/xml, text/plain"})
    void whatTakesNeitherIsRefusedBeforeAnythingIsDone(String accept) throws Exception {
        HttpRequest.Builder start = bare(TestGateway.toolCall("sandbox_start", "{\"sandbox\":\"unmade\"}")
                .getBytes(StandardCharsets.UTF_8));

        assertThat(refused(start.header("Accept", accept), 406, -32600))
                .isEqualTo("Invalid request: header Accept excludes what is answered;"
                        + " send 'application/json, text/event-stream', as MCP has it, or leave it out");
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void theRefusalNamesTheRequest() throws Exception {
        assertThat(gateway.json(gateway.send(list().header("Accept", "text/html")))
                        .path("id")
                        .asInt())
                .isEqualTo(1);
    }

    /** It has no answer that could have another form. */
    @Test
    void aNotificationIsTakenWhateverItsSenderTakes() throws Exception {
        byte[] cancelled =
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}".getBytes(StandardCharsets.UTF_8);

        assertThat(gateway.send(bare(cancelled).header("Accept", "text/html")).statusCode())
                .isEqualTo(202);
    }

    @Test
    void whatIsNoListOfMediaTypesIsABadRequest() throws Exception {
        assertThat(refused(list().header("Accept", "///"), 400, -32600))
                .startsWith("Invalid request: header Accept must be a list of media types; send ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json",
                "Application/JSON",
                "application/json; charset=utf-8",
                "application/json;charset=\"UTF-8\"",
                "application/json; charset=us-ascii",
                "application/json; version=1"
            })
    void jsonInUtf8IsRead(String type) throws Exception {
        assertTaken(list().header("Content-Type", type), JSON);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=a",
                "application/problem+json",
                "application/*",
                "*/*",
                "application/json; charset=utf-16",
                "application/json; charset=iso-8859-1",
                "application/json; charset=nonsense",
                "application/json; charset=\"\"",
                "///",
                ""
            })
    void anyOtherTypeIsRefused(String type) throws Exception {
        assertThat(refused(list().header("Content-Type", type), 415, -32600))
                .startsWith("Invalid request: header Content-Type must be application/json, with charset=utf-8");
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32", "UTF-32BE", "UTF-32LE"})
    void aBodyInAnotherEncodingIsAParseError(String encoding) throws Exception {
        HttpRequest.Builder wide =
                bare(LIST.getBytes(Charset.forName(encoding))).header("Content-Type", JSON);

        assertThat(refused(wide, 400, -32700))
                .isEqualTo("Parse error: the body is in UTF-16 or UTF-32; write it in UTF-8");
    }

    /** RFC 8259 lets a reader overlook it, and some programs write it unasked. */
    @Test
    void theMarkOfUtf8BeforeTheBodyIsOverlooked() throws Exception {
        assertTaken(bare(("\ufeff" + LIST).getBytes(StandardCharsets.UTF_8)).header("Content-Type", JSON), JSON);
    }

    @Test
    void bytesThatAreNoUtf8AreAParseError() throws Exception {
        byte[] latin =
                "{\"jsonrpc\":\"2.0\",\"id\":\"caf\u00e9\",\"method\":\"ping\"}".getBytes(StandardCharsets.ISO_8859_1);

        assertThat(refused(bare(latin), 400, -32700)).startsWith("Parse error: the body must be JSON in UTF-8");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "br", "identity, gzip"})
    void aCompressedBodyIsRefused(String encoding) throws Exception {
        HttpRequest.Builder compressed = list().header("Content-Encoding", encoding);

        assertThat(refused(compressed, 415, -32600)).contains("header Content-Encoding must be left out");
        assertThat(gateway.send(compressed).headers().firstValue("Accept-Encoding"))
                .contains("identity");
        assertTaken(list().header("Content-Encoding", "Identity"), JSON);
    }
}
