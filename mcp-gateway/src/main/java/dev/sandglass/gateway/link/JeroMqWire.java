package dev.sandglass.gateway.link;

import dev.sandglass.api.LinkKeys;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import org.zeromq.ZMonitor;

/** A DEALER socket with CURVE, connected once. Owner thread only. */
final class JeroMqWire implements Wire {

    private static final int HEARTBEAT = (int) TimeUnit.SECONDS.toMillis(10);
    private static final int HEARTBEAT_TIMEOUT = (int) TimeUnit.SECONDS.toMillis(20);
    private static final int HEARTBEAT_TTL = (int) TimeUnit.SECONDS.toMillis(30);
    private static final int HANDSHAKE = (int) TimeUnit.SECONDS.toMillis(30);
    // A wire is not mended, a new one is made; ZeroMQ's own attempts would come long after we closed it.
    private static final int NEVER = (int) TimeUnit.MINUTES.toMillis(10);
    private static final long MAX_MESSAGE = 16L * 1024 * 1024;
    private static final int EVENTS = ZMQ.EVENT_CONNECTED
            | ZMQ.EVENT_HANDSHAKE_PROTOCOL
            | ZMQ.EVENT_CONNECT_RETRIED
            | ZMQ.EVENT_DISCONNECTED
            | ZMQ.HANDSHAKE_FAILED_AUTH
            | ZMQ.HANDSHAKE_FAILED_PROTOCOL;

    private final Connection connection;
    private final ZMQ.Socket socket;
    private final Consumer<JeroMqWire> onUse;
    private final Consumer<JeroMqWire> onClose;

    private JeroMqWire(Connection connection, ZMQ.Socket socket, Hooks hooks) {
        this.connection = connection;
        this.socket = socket;
        this.onUse = hooks.onUse();
        this.onClose = hooks.onClose();
    }

    /** Begins to connect. */
    static JeroMqWire open(ZMQ.Context context, Connection connection, LinkKeys keys, Hooks hooks) {
        LinkTarget target = connection.dialling().target();
        ZMQ.Socket socket = context.socket(SocketType.DEALER);
        socket.setLinger(0);
        // ZeroMQ's marks count messages; what bounds us are windows of bytes and the number of pending verbs.
        socket.setHWM(0);
        socket.setMaxMsgSize(MAX_MESSAGE);
        socket.setReconnectIVL(NEVER);
        socket.setHandshakeIvl(HANDSHAKE);
        socket.setHeartbeatIvl(HEARTBEAT);
        socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT);
        socket.setHeartbeatTtl(HEARTBEAT_TTL);
        socket.setIdentity(connection.dialling().identity());
        socket.setIPv6(target.isIpv6());
        socket.setCurveServerKey(keys.pod().publicBytes());
        socket.setCurvePublicKey(keys.gateway().publicBytes());
        socket.setCurveSecretKey(keys.gateway().secretBytes());
        JeroMqWire wire = new JeroMqWire(connection, socket, hooks);
        // Called on ZeroMQ's I/O thread, in the middle of its work: only hands on.
        socket.setEventHook(event -> hooks.executor().accept(() -> wire.happened(event.getEvent())), EVENTS);
        socket.connect(target.endpoint());
        return wire;
    }

    /** Gets what comes in. */
    Connection connection() {
        return connection;
    }

    /** Readable when there may be something to receive. */
    SelectableChannel channel() {
        return socket.getFD();
    }

    @Override
    public void send(byte[][] frames) {
        int last = frames.length - 1;
        for (int i = 0; i < last; i++) {
            socket.send(frames[i], ZMQ.SNDMORE | ZMQ.DONTWAIT);
        }
        socket.send(frames[last], ZMQ.DONTWAIT);
        // Sending works off ZeroMQ's own signals too, so that the channel may stay silent about a message that came.
        onUse.accept(this);
    }

    /** The next message, if there is one. Frames beyond what a message may have are dropped, so that it does not decode. */
    @Nullable
    List<byte[]> receive() {
        byte[] first = socket.recv(ZMQ.DONTWAIT);
        if (first == null) {
            return null;
        }
        List<byte[]> frames = new ArrayList<>(InboundFrames.MAX_FRAMES);
        frames.add(first);
        while (socket.hasReceiveMore()) {
            byte[] frame = socket.recv(ZMQ.DONTWAIT);
            if (frame != null && frames.size() <= InboundFrames.MAX_FRAMES) {
                frames.add(frame);
            }
        }
        return frames;
    }

    @Override
    public void close() {
        onClose.accept(this);
        socket.setEventHook(null, 0);
        socket.close();
    }

    private void happened(ZMonitor.Event event) {
        Dialling dialling = connection.dialling();
        switch (event) {
            case CONNECTED -> dialling.connected(this);
            case HANDSHAKE_PROTOCOL -> dialling.greeted(this);
            case CONNECT_RETRIED -> dialling.broken(this, "it refuses connections");
            case DISCONNECTED -> dialling.broken(this, "the connection was closed by the other side");
            case HANDSHAKE_FAILED_AUTH, HANDSHAKE_FAILED_PROTOCOL ->
                dialling.broken(this, "the encrypted handshake failed");
            default -> {
                // Not asked for.
            }
        }
    }

    /**
     * What a wire tells the thread that owns it.
     *
     * @param executor runs something on that thread; from any thread
     * @param onUse the wire may have something to receive
     * @param onClose the wire is about to close
     */
    record Hooks(Consumer<Runnable> executor, Consumer<JeroMqWire> onUse, Consumer<JeroMqWire> onClose) {}
}
