package dev.sandglass.gateway.link;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import tools.jackson.databind.json.JsonMapper;

/**
 * ROUTER sockets with CURVE that answer {@code hello}, echo {@code metrics} and otherwise say what a test tells them to. One
 * thread for all, each socket a sandbox of its own.
 */
final class StubSupervisor implements AutoCloseable {

    private final ZMQ.Context context = ZMQ.context(1);
    private final List<ZMQ.Socket> sockets = new ArrayList<>();
    private final List<LinkTarget> targets = new ArrayList<>();
    private final Queue<List<byte[]>> extras = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::serve, "stub");
    private volatile boolean closed;

    StubSupervisor(LinkSecret secret, int count) {
        context.setMaxSockets(2 * count + 16);
        for (int i = 0; i < count; i++) {
            String uid = "stub-" + i;
            ZMQ.Socket socket = context.socket(SocketType.ROUTER);
            socket.setLinger(0);
            socket.setCurveServer(true);
            socket.setCurveSecretKey(LinkKeys.derive(secret, uid, 1).pod().secretBytes());
            int port = socket.bindToRandomPort("tcp://127.0.0.1");
            sockets.add(socket);
            targets.add(new LinkTarget(uid, 1, "127.0.0.1", port));
        }
        thread.start();
    }

    List<LinkTarget> targets() {
        return targets;
    }

    LinkTarget target() {
        return targets.getFirst();
    }

    /** Says this before the next answer. */
    void say(List<byte[]> frames) {
        extras.add(frames);
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.close();
    }

    private void serve() {
        try (ZMQ.Poller poller = context.poller(sockets.size())) {
            sockets.forEach(socket -> poller.register(socket, ZMQ.Poller.POLLIN));
            while (!closed) {
                poller.poll(20);
                for (int i = 0; i < sockets.size(); i++) {
                    if (poller.pollin(i)) {
                        answer(i);
                    }
                }
            }
        }
        sockets.forEach(ZMQ.Socket::close);
    }

    private void answer(int index) {
        ZMQ.Socket socket = sockets.get(index);
        byte[] peer = socket.recv();
        List<byte[]> frames = new ArrayList<>();
        while (socket.hasReceiveMore()) {
            frames.add(socket.recv());
        }
        if (frames.getFirst()[0] != 'V') {
            return;
        }
        String id = new String(frames.get(1), java.nio.charset.StandardCharsets.US_ASCII);
        String verb = JsonMapper.shared().readTree(frames.get(2)).path("verb").asString();
        for (List<byte[]> extra = extras.poll(); extra != null; extra = extras.poll()) {
            send(socket, peer, extra);
        }
        send(
                socket,
                peer,
                verb.equals("hello")
                        ? SupervisorFrames.hello(id, targets.get(index).sandboxUid(), "boot")
                        : SupervisorFrames.reply(id, "{\"verb\":\"" + verb + "\"}"));
    }

    private static void send(ZMQ.Socket socket, byte[] peer, List<byte[]> frames) {
        socket.sendMore(peer);
        for (int i = 0; i < frames.size(); i++) {
            socket.send(frames.get(i), i < frames.size() - 1 ? ZMQ.SNDMORE : 0);
        }
    }
}
