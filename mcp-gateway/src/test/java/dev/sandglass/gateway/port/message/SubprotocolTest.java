package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.port.PortGateway;
import dev.sandglass.gateway.port.RawSocket;
import dev.sandglass.gateway.port.Upstream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which subprotocol of a WebSocket a client and a sandbox's server agree on (RFC 6455, section 4.2.2). */
class SubprotocolTest {

    private static final String PROTOCOL = "Sec-WebSocket-Protocol: ";
    private static final Pattern LENGTH = Pattern.compile("(?i)content-length: *(\\d+)");

    private final PortGateway gateway = new PortGateway();
    private final Queue<String> asked = new ConcurrentLinkedQueue<>();
    private volatile String chosen = "";
    private final Upstream upstream = new Upstream((connection, head) -> {
        asked.add(head);
        connection.getOutputStream().write(RawSocket.accepted(head, chosen));
        // Open until the gateway hangs up.
        var _ = connection.getInputStream().read();
    });

    @BeforeEach
    void start() {
        gateway.box("uid-1", upstream.port());
    }

    @AfterEach
    void stop() throws Exception {
        upstream.close();
        gateway.close();
    }

    /** The whole answer to a handshake with such lines in its head. */
    private String answerTo(String lines) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            socket.setSoTimeout(10_000);
            String head = """
                    GET %s HTTP/1.1\r
                    Host: localhost\r
                    Authorization: Bearer %s\r
                    Connection: Upgrade\r
                    Upgrade: websocket\r
                    Sec-WebSocket-Version: 13\r
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                    %s\r
                    """.formatted(PortGateway.path(upstream.port(), "/"), PortGateway.ALICE, lines);
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            String answer = RawSocket.head(socket);
            var length = LENGTH.matcher(answer);
            return length.find()
                    ? answer
                            + new String(
                                    socket.getInputStream().readNBytes(Integer.parseInt(length.group(1))),
                                    StandardCharsets.UTF_8)
                    : answer;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", PROTOCOL + "graphql-ws\r\n", PROTOCOL + "graphql-ws, v1.json\r\n"})
    void aServerMayChooseNone(String offered) throws Exception {
        assertThat(answerTo(offered)).startsWith("HTTP/1.1 101").doesNotContainIgnoringCase("sec-websocket-protocol");
        assertThat(asked).singleElement().asString().containsIgnoringCase(offered);
    }

    @ParameterizedTest
    @ValueSource(strings = {"graphql-ws, v1.json\r\n", "v1.json\r\n", "graphql-ws\r\n" + PROTOCOL + "v1.json\r\n"})
    void theOneThatItChoosesIsTold(String offered) throws Exception {
        chosen = PROTOCOL + "v1.json\r\n";

        assertThat(answerTo(PROTOCOL + offered))
                .startsWith("HTTP/1.1 101")
                .containsIgnoringCase("\r\n" + PROTOCOL + "v1.json\r\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {"v1.json | v2.json | 'v2.json'", "v1.json | V1.JSON | 'V1.JSON'", "- | v1.json | 'v1.json'"},
            quoteCharacter = '"')
    void oneThatWasNotOfferedIsTheServersFault(String offered, String answered, String named) throws Exception {
        chosen = PROTOCOL + answered + "\r\n";

        assertThat(answerTo(offered == null ? "" : PROTOCOL + offered + "\r\n"))
                .startsWith("HTTP/1.1 502")
                .contains("chose the WebSocket subprotocol " + named + ", which the client did not offer");
    }

    @Test
    void severalAreNoChoice() throws Exception {
        chosen = (PROTOCOL + "v1.json\r\n").repeat(2);

        assertThat(answerTo(PROTOCOL + "v1.json\r\n"))
                .startsWith("HTTP/1.1 502")
                .contains("chose 2 WebSocket subprotocols; it may choose one");
    }
}
