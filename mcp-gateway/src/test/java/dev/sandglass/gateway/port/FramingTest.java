package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clients of HTTP/1.0 know no chunks: what has no length ends with the connection. */
class FramingTest {

    private final PortGateway gateway = new PortGateway();

    @AfterEach
    void stop() {
        gateway.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\nhello",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            })
    void anAnswerIsWhatTheServerSaid(String said) throws Exception {
        try (Upstream upstream = Upstream.answering(said)) {
            gateway.box("uid-1", upstream.port());
            for (String more : new String[] {"", "Connection: keep-alive\r\n"}) {
                assertThat(answer("GET", upstream.port(), "/", more))
                        .matches("(?s)HTTP/1.[01] 200 .*")
                        .doesNotContainIgnoringCase("transfer-encoding")
                        .endsWith("\r\n\r\nhello");
            }
            assertThat(answer("HEAD", upstream.port(), "/", ""))
                    .matches("(?s)HTTP/1.[01] 200 .*")
                    .doesNotContainIgnoringCase("transfer-encoding")
                    .endsWith("\r\n\r\n");
        }
    }

    @Test
    void soAreTheGatewaysOwn() throws Exception {
        gateway.box("uid-1", 1);
        for (String path : new String[] {"/", "", "/ x"}) {
            assertThat(answer("GET", 1, path, ""))
                    .matches("(?s)HTTP/1.[01] (502|308|400) .*")
                    .doesNotContainIgnoringCase("transfer-encoding");
        }
    }

    private String answer(String method, int port, String rest, String more) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write("%s %s HTTP/1.0\r\nAuthorization: Bearer %s\r\n%s\r\n"
                            .formatted(method, PortGateway.path(port, rest), PortGateway.ALICE, more)
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
