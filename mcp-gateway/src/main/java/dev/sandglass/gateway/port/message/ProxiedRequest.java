package dev.sandglass.gateway.port.message;

import dev.sandglass.gateway.http.ChunkCoalescer;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.netty.Connection;

/**
 * A request that was let in, on its way to a sandbox's port.
 *
 * @param path as it was asked for
 * @param sandbox running, and proved to be the one behind its address
 * @param way what the sandbox is told of whoever asks
 * @param traffic what moves
 * @param upstream the connection to the sandbox, which ends with the visit
 */
public record ProxiedRequest(
        PortPath path, RunningSandbox sandbox, InwardHeaders.Way way, Traffic traffic, Disposable.Swap upstream) {

    public ProxiedRequest(PortPath path, RunningSandbox sandbox, InwardHeaders.Way way, Traffic traffic) {
        this(path, sandbox, way, traffic, Disposables.swap());
    }

    /** Keeps a new connection until the end, or ends it at once if that has come. */
    public void connected(Connection connection) {
        connection.channel().pipeline().addFirst(new RequestTarget(path.rest()));
        connection.addHandlerFirst(new ChunkCoalescer()).addHandlerFirst(new InterimAnswers(path.port()));
        upstream.replace(() -> {
            var _ = connection.channel().close();
        });
    }

    /** Where to connect to; never from the request but for the port, which is declared. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.ofLiteral(sandbox.address()), path.port());
    }
}
