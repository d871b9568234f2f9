package dev.sandglass.gateway.link;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.sandbox.SeatId;
import dev.sandglass.gateway.zmtp.CurveServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** A supervisor without a library's manners: it reads when it likes and says what it likes. */
final class HostileSupervisor implements AutoCloseable {

    private final CurveServer server;
    private final LinkTarget target;

    HostileSupervisor(LinkSecret secret) throws IOException {
        server = new CurveServer(LinkKeys.derive(secret, "hostile", 1).pod().secretBytes());
        target = new LinkTarget("hostile", 1, "127.0.0.1", server.port());
    }

    /** In a seat, with the keys of it; sandbox {@code hostile} claimed it. */
    HostileSupervisor(LinkSecret secret, SeatId seat) throws IOException {
        server = new CurveServer(LinkKeys.derive(secret, seat.value(), 0).pod().secretBytes());
        target = new LinkTarget("hostile", 1, Optional.of(seat), "127.0.0.1", server.port());
    }

    LinkTarget target() {
        return target;
    }

    /** Takes one connection, up to the answer to its hello. */
    void accept() throws IOException {
        server.accept();
        String id = new String(message().get(1), StandardCharsets.US_ASCII);
        say(SupervisorFrames.hello(id, target.sandboxUid(), "boot"));
    }

    /** Takes one connection as a seat that says in JSON for whom it is configured. */
    void accept(SeatId seat, String configuredFor) throws IOException {
        server.accept();
        String id = new String(message().get(1), StandardCharsets.US_ASCII);
        say(SupervisorFrames.seatHello(id, seat.value(), "boot", configuredFor));
    }

    /** The next message that came in. */
    List<byte[]> message() throws IOException {
        return server.message();
    }

    /** Says a message. */
    void say(List<byte[]> frames) throws IOException {
        server.say(frames);
    }

    /** Asks for so many signs of life at once. */
    void ping(int times) throws IOException {
        server.ping(times);
    }

    /** Leaves out a number, as if a message had been dropped on the way. */
    void skip() {
        server.skip();
    }

    Socket connection() {
        return server.connection();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
