package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.call.PodCalls;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;

/** All links of this process. Thread-safe. */
public interface LinkClient extends AutoCloseable {

    /** The link to a sandbox; costs nothing, the connection is opened by its first use and closed again after idling. */
    Link link(LinkTarget target);

    /** What happened so far. */
    LinkStats stats();

    /** Closes every connection; what is under way fails. */
    @Override
    void close();

    /**
     * Starts links that live on an event loop: everything that they do and tell happens there.
     *
     * @param channels what kind of channel that loop serves
     * @param settings see there
     * @param secrets the installation's link secrets, from which all keys are derived
     * @param calls answers what pods ask of this gateway
     * @param seats says what seats are configured with
     */
    static LinkClient start(
            EventLoop loop,
            Class<? extends SocketChannel> channels,
            LinkSettings settings,
            LinkSecrets secrets,
            PodCalls calls,
            SeatConfigurations seats) {
        return LinkLoop.start(loop, channels, settings, secrets, calls, seats);
    }
}
