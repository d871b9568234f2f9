package dev.sandglass.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Connections of the hostile, on real sockets: slow heads, bodies without end, and very many of them. */
class ConnectionLimiterTest {

    private static final String GET = "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final int STRANGERS = 3;
    private static final Duration SHORT = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<Socket> open = new ArrayList<>();
    private final Sinks.Empty<Void> served = Sinks.empty();
    private final AtomicInteger waiting = new AtomicInteger();
    private DisposableServer server = serve(new ConnectionSettings(LONG, STRANGERS, 5));

    private DisposableServer serve(ConnectionSettings settings) {
        return ConnectionLimiter.of(HttpServer.create(), settings)
                .host("127.0.0.1")
                .port(0)
                .handle(this::answer)
                .bindNow();
    }

    private void restart(ConnectionSettings settings) {
        server.disposeNow(Duration.ofSeconds(30));
        server = serve(settings);
    }

    /** Below {@code /known} a key was shown; {@code wait} is answered when the test says so. */
    private Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        if (request.uri().startsWith("/known")) {
            request.withConnection(connection -> ConnectionLimiter.passed(connection.channel()));
        } else {
            LingeringClose.unlessRead(request, response);
            response.status(401);
        }
        Mono<Void> until = Mono.empty();
        if (request.uri().endsWith("/wait")) {
            waiting.incrementAndGet();
            until = served.asMono();
        }
        return until.then(response.header("Content-Length", "2")
                .sendString(Mono.just("ok"))
                .then());
    }

    @AfterEach
    void close() throws IOException {
        served.tryEmitEmpty();
        for (Socket each : open) {
            each.close();
        }
        server.disposeNow(Duration.ofSeconds(30));
    }

    private Socket connect() throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(15_000);
        open.add(socket);
        return socket;
    }

    private static Socket sent(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** The head and the two bytes of an answer. */
    private static String answerOn(Socket socket) throws IOException {
        var answer = new StringBuilder();
        while (answer.indexOf("\r\n\r\nok") < 0) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                throw new IOException("closed after: " + answer);
            }
            answer.append((char) next);
        }
        return answer.toString();
    }

    private static boolean isEnded(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException open) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    private Socket known(String path) throws IOException {
        Socket socket = sent(connect(), GET.formatted(path));
        if (!path.endsWith("/wait")) {
            answerOn(socket);
        }
        return socket;
    }

    @Test
    void whoeverSaysNothingIsEnded() throws Exception {
        restart(new ConnectionSettings(SHORT, STRANGERS, 5));

        assertThat(isEnded(connect())).isTrue();
    }

    @Tag("slow")
    @Test
    void aHeadThatComesByteForByteIsEndedThoughSomethingMoves() throws Exception {
        restart(new ConnectionSettings(SHORT, STRANGERS, 5));
        Socket slow = sent(connect(), "GET / HTTP/1.1\r\nX: ");

        CompletableFuture<Boolean> ended =
                CompletableFuture.supplyAsync(() -> isEnded(slow), Thread::startVirtualThread);
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            try {
                sent(slow, "x");
            } catch (IOException cut) {
                return ended.join();
            }
            return ended.isDone();
        });
    }

    @Tag("slow")
    @Test
    void theHeadOfALaterRequestHasItsTimeFromItsFirstByteOn() throws Exception {
        restart(new ConnectionSettings(SHORT, STRANGERS, 5));
        Socket kept = known("/known");
        // Silence is not a head; it is for the idle time-out.
        await().during(SHORT.plusMillis(500)).atMost(LONG).until(() -> true);
        assertThat(answerOn(sent(kept, GET.formatted("/known")))).startsWith("HTTP/1.1 200");

        sent(kept, "GET /kn");

        assertThat(isEnded(kept)).isTrue();
    }

    @Tag("slow")
    @Test
    void anAnswerMayTakeLongerThanAHead() throws Exception {
        restart(new ConnectionSettings(SHORT, STRANGERS, 5));
        Socket patient = known("/known/wait");
        await().until(() -> waiting.get() == 1);
        await().during(SHORT.plusMillis(500)).atMost(LONG).until(() -> true);

        served.tryEmitEmpty();

        assertThat(answerOn(patient)).startsWith("HTTP/1.1 200");
    }

    @Test
    void strangersHoldTheirPlacesAndNotOneMoreAndACallerStillComesIn() throws Exception {
        // Each is answered before the next one comes, else the server may see them in another order.
        Socket first = sent(connect(), GET.formatted("/"));
        answerOn(first);
        Socket second = sent(connect(), GET.formatted("/"));
        answerOn(second);
        Socket third = sent(connect(), GET.formatted("/"));
        answerOn(third);
        // All three are still there: one more request each is answered.
        for (Socket each : List.of(first, second, third)) {
            answerOn(sent(each, GET.formatted("/")));
        }

        Socket caller = known("/known");

        assertThat(isEnded(first)).isTrue();
        answerOn(sent(second, GET.formatted("/")));
        answerOn(sent(third, GET.formatted("/")));
        answerOn(sent(caller, GET.formatted("/known")));
    }

    @Test
    void aFloodOfStrangersEndsNoCaller() throws Exception {
        Socket idle = known("/known");
        Socket served = known("/known/wait");
        await().until(() -> waiting.get() == 1);
        var ended = new AtomicInteger();
        for (int i = 0; i < 50; i++) {
            Socket stranger = connect();
            Thread.startVirtualThread(() -> {
                if (isEnded(stranger)) {
                    ended.incrementAndGet();
                }
            });
        }
        // All have come: whoever comes now is the newest.
        await().until(() -> ended.get() == 50 - STRANGERS);
        Socket late = known("/known");

        answerOn(sent(idle, GET.formatted("/known")));
        answerOn(sent(late, GET.formatted("/known")));
        this.served.tryEmitEmpty();
        assertThat(answerOn(served)).startsWith("HTTP/1.1 200");
    }

    @Test
    void ofAllPlacesTheOldestIdleOneIsGivenToOneMoreAndNoneThatIsServed() throws Exception {
        Socket busy = known("/known/wait");
        await().until(() -> waiting.get() == 1);
        Socket oldest = known("/known");
        for (int i = 0; i < 3; i++) {
            known("/known");
        }

        known("/known");

        assertThat(isEnded(oldest)).isTrue();
        served.tryEmitEmpty();
        assertThat(answerOn(busy)).startsWith("HTTP/1.1 200");
    }

    @Tag("slow")
    @Test
    void whoIsAnsweredBeforeItsBodyHearsWhyAndIsNotReadForEver() throws Exception {
        Socket endless = sent(connect(), "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        CompletableFuture<Boolean> ended = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        assertThat(answerOn(endless))
                                .startsWith("HTTP/1.1 401")
                                .containsIgnoringCase("connection: close");
                        return isEnded(endless);
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                },
                Thread::startVirtualThread);
        String chunk = "2000\r\n" + "x".repeat(0x2000) + "\r\n";
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            try {
                sent(endless, chunk);
                return false;
            } catch (IOException cut) {
                return true;
            }
        });
        assertThat(ended.get()).isTrue();
    }

    /** An answer that nobody asked to end the connection after, while the body goes on: as of a path that there is not. */
    @Tag("slow")
    @Test
    void aBodyThatNobodyWantsIsNotReadForEver() throws Exception {
        Socket endless = sent(connect(), "POST /known HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
        assertThat(answerOn(endless)).startsWith("HTTP/1.1 200");

        await().atMost(Duration.ofSeconds(10)).until(() -> {
            try {
                sent(endless, "1\r\nx\r\n");
                return false;
            } catch (IOException cut) {
                return true;
            }
        });
    }

    @Test
    void aBodyThatHasComeKeepsTheConnection() throws Exception {
        Socket socket = sent(connect(), "POST /known HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
        answerOn(socket);

        assertThat(answerOn(sent(socket, GET.formatted("/known")))).startsWith("HTTP/1.1 200");
    }

    @Tag("slow")
    @Test
    void whatIsSentAheadOfAnAnswerIsBounded() throws Exception {
        Socket modest = known("/known/wait");
        await().until(() -> waiting.get() == 1);
        sent(modest, GET.formatted("/known"));
        Socket greedy = known("/known/wait");
        await().until(() -> waiting.get() == 2);
        sent(greedy, "POST /known HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n");
        CompletableFuture<Boolean> ended =
                CompletableFuture.supplyAsync(() -> isEnded(greedy), Thread::startVirtualThread);
        await().atMost(Duration.ofSeconds(10)).until(() -> {
            try {
                sent(greedy, "x".repeat(4096));
            } catch (IOException cut) {
                return true;
            }
            return ended.isDone();
        });

        served.tryEmitEmpty();
        answerOn(modest);
        answerOn(modest);
    }
}
