package dev.sandglass.gateway.link;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.gateway.link.frame.InboundFrames;
import dev.sandglass.gateway.zmtp.CurveKeys;
import dev.sandglass.gateway.zmtp.ZmtpWire;
import io.netty.bootstrap.Bootstrap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One attempt at a connection, over ZeroMQ: what its frames say goes to the connection. Owner thread only. */
final class LinkWire implements Wire, ZmtpWire.Listener {

    private final Connection connection;
    private final Runnable onClose;
    private @Nullable ZmtpWire wire;

    private LinkWire(Connection connection, Runnable onClose) {
        this.connection = connection;
        this.onClose = onClose;
    }

    /** Begins to connect. */
    static LinkWire open(
            Bootstrap bootstrap, Connection connection, Connection.Owner owner, LinkKeys keys, Runnable onClose) {
        LinkWire link = new LinkWire(connection, onClose);
        CurveKeys curve = new CurveKeys(
                keys.gateway().publicBytes(),
                keys.gateway().secretBytes(),
                keys.pod().publicBytes());
        Dialling dialling = connection.dialling();
        var setup =
                new ZmtpWire.Setup(dialling.target().address(), curve, dialling.identity(), InboundFrames.MAX_FRAMES);
        link.wire = ZmtpWire.open(bootstrap, setup, link, owner::execute);
        return link;
    }

    @Override
    public void send(byte[][] frames) {
        opened().send(frames);
    }

    @Override
    public boolean isReady() {
        return opened().isReady();
    }

    @Override
    public void close() {
        opened().close();
    }

    @Override
    public void connected() {
        connection.dialling().connected(this);
    }

    @Override
    public void greeted() {
        connection.dialling().greeted(this);
    }

    @Override
    public void received(List<byte[]> frames) {
        connection.received(this, InboundFrames.decode(frames));
    }

    @Override
    public void ready() {
        connection.ready(this);
    }

    @Override
    public void broken(String why) {
        connection.dialling().broken(this, why);
    }

    @Override
    public void closed() {
        onClose.run();
    }

    private ZmtpWire opened() {
        if (wire == null) {
            throw new IllegalStateException("The wire is used before it is opened");
        }
        return wire;
    }
}
