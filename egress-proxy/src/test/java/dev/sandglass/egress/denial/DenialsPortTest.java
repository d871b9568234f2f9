package dev.sandglass.egress.denial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.EgressSecret;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who hears of denials, and what becomes of those who hear slowly. */
@SuppressWarnings("NullAway.Init")
class DenialsPortTest {

    private static final EgressSecret SECRET = new EgressSecret(new byte[32]);
    private static final String TOKEN = SECRET.denialsToken();
    private static final Duration LONG = Duration.ofMinutes(1);

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final List<Socket> sockets = new ArrayList<>();
    private DenialsPort port;

    @BeforeEach
    void open() throws InterruptedException {
        open(LONG);
    }

    private void open(Duration heartbeat) throws InterruptedException {
        port = new DenialsPort(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), SECRET, loops, heartbeat);
    }

    @AfterEach
    void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        port.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Denial denial(String host) {
        return new Denial("uid-1", "tenant", "box", host, 443, "not-allowed", Instant.parse("2026-01-02T03:04:05Z"));
    }

    private Socket ask(String request) throws IOException {
        Socket socket = new Socket();
        // Small, so that a reader who does not read is soon noticed.
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.port()));
        socket.setSoTimeout(10_000);
        sockets.add(socket);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static BufferedReader lines(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    private static String request(String token) {
        return "GET /denials HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n";
    }

    private BufferedReader reader() throws IOException {
        BufferedReader lines = lines(ask(request(TOKEN)));
        assertThat(lines.readLine()).isEqualTo("HTTP/1.1 200 OK");
        while (!lines.readLine().isEmpty()) {
            // The rest of the head.
        }
        return lines;
    }

    @Test
    void oneLineForEach() throws Exception {
        BufferedReader one = reader();
        BufferedReader two = reader();
        await().until(() -> port.readers() == 2);
        port.accept(denial("a.example"));
        port.accept(denial("b.example"));
        assertThat(one.readLine())
                .isEqualTo(
                        "{\"sandboxUid\":\"uid-1\",\"namespace\":\"tenant\",\"sandbox\":\"box\",\"host\":\"a.example\","
                                + "\"port\":443,\"reason\":\"not-allowed\",\"time\":\"2026-01-02T03:04:05Z\"}");
        assertThat(one.readLine()).contains("\"host\":\"b.example\"");
        port.accept(new Failure(
                "uid-1", "tenant", "box", "c.example", 80, "nobody is there", Instant.parse("2026-01-02T03:04:05Z")));
        assertThat(one.readLine())
                .isEqualTo(
                        "{\"sandboxUid\":\"uid-1\",\"namespace\":\"tenant\",\"sandbox\":\"box\",\"host\":\"c.example\","
                                + "\"port\":80,\"failure\":\"nobody is there\",\"time\":\"2026-01-02T03:04:05Z\"}");
        assertThat(two.readLine()).contains("\"host\":\"a.example\"");
    }

    @Test
    void emptyLinesMeanwhile() throws Exception {
        port.close();
        open(Duration.ofMillis(50));
        BufferedReader reader = reader();
        assertThat(reader.readLine()).isEmpty();
        assertThat(reader.readLine()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "GET /denials HTTP/1.1~Host: x, 401",
        "GET /denials HTTP/1.1~Authorization: Bearer wrong, 401",
        "GET /denials HTTP/1.1~Authorization: Basic TOKEN, 401",
        "GET /denials HTTP/1.1~Authorization: Bearer TOKEN~Authorization: Bearer TOKEN, 400",
        "GET /denials HTTP/1.1~ Authorization: Bearer TOKEN, 400",
        "GET /other HTTP/1.1~Authorization: Bearer TOKEN, 404",
        "POST /denials HTTP/1.1~Authorization: Bearer TOKEN, 404",
        "CONNECT example.com:443 HTTP/1.1~Authorization: Bearer TOKEN, 404",
    })
    void everybodyElse(String request, String status) throws Exception {
        String text = request.replace("~", "\r\n").replace("TOKEN", TOKEN) + "\r\n\r\n";
        BufferedReader answer = lines(ask(text));
        assertThat(answer.readLine()).startsWith("HTTP/1.1 " + status);
        assertThat(answer.lines()).allMatch(line -> line.isEmpty() || line.contains(": "));
        assertThat(port.readers()).isZero();
    }

    @Test
    void theHeadHasABound() throws Exception {
        String begin = "GET /denials HTTP/1.1\r\nAuthorization: Bearer " + TOKEN + "\r\nX: ";
        String fits = begin + "x".repeat(8192 - begin.length() - 4) + "\r\n\r\n";
        assertThat(lines(ask(fits)).readLine()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(lines(ask("x".repeat(8193))).readLine()).startsWith("HTTP/1.1 431");
    }

    @Test
    void whoDoesNotReadIsDroppedAndTheOthersHear() throws Exception {
        ask(request(TOKEN));
        await().until(() -> port.readers() == 1);
        Denial big = denial("x".repeat(200) + ".example");
        // Far more than the buffers of both systems and ours hold.
        for (int i = 0; i < 200_000 && port.readers() == 1; i++) {
            port.accept(big);
        }
        await().until(() -> port.readers() == 0);
        BufferedReader prompt = reader();
        await().until(() -> port.readers() == 1);
        port.accept(denial("after.example"));
        assertThat(prompt.readLine()).contains("after.example");
    }

    @Test
    void soManyConnections() throws Exception {
        for (int i = 0; i < DenialsPort.MAX_CONNECTIONS; i++) {
            ask("GET");
        }
        assertThat(firstLetter(ask(request(TOKEN)))).isNegative();
        sockets.getFirst().close();
        await().untilAsserted(() -> assertThat(firstLetter(ask(request(TOKEN)))).isEqualTo('H'));
    }

    private static int firstLetter(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read();
        } catch (SocketException reset) {
            return -1;
        }
    }
}
