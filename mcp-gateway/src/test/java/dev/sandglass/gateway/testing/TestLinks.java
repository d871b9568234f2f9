package dev.sandglass.gateway.testing;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkSecrets;
import dev.sandglass.gateway.link.LinkSettings;
import dev.sandglass.gateway.link.SeatConfigurations;
import dev.sandglass.gateway.link.call.PodCalls;
import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/** Links on an event loop that all tests of this process share. */
public final class TestLinks {

    /** How its thread's name begins. */
    public static final String THREAD = "link";

    /** That event loop. */
    public static final EventLoop LOOP = new MultiThreadIoEventLoopGroup(
                    1, new DefaultThreadFactory(THREAD, true), NioIoHandler.newFactory())
            .next();

    private TestLinks() {}

    /** Links with such bounds. */
    public static LinkClient start(LinkSettings settings, LinkSecret secret) {
        return start(settings, LinkSecrets.of(secret));
    }

    /** Links after the secret was replaced. */
    public static LinkClient start(LinkSettings settings, LinkSecrets secrets) {
        return start(settings, secrets, SeatConfigurations.NONE);
    }

    /** Links to seats. */
    public static LinkClient start(LinkSettings settings, LinkSecrets secrets, SeatConfigurations seats) {
        return LinkClient.start(LOOP, NioSocketChannel.class, settings, secrets, PodCalls.NONE, seats);
    }

    /** Links that answer calls of pods. */
    public static LinkClient start(LinkSettings settings, LinkSecret secret, PodCalls calls) {
        return LinkClient.start(
                LOOP, NioSocketChannel.class, settings, LinkSecrets.of(secret), calls, SeatConfigurations.NONE);
    }

    /** Links with the usual bounds. */
    public static LinkClient start(LinkSecret secret) {
        return start(LinkSettings.defaults("test"), secret);
    }
}
