package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.IpAddress;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * Connects to the first of several addresses that accepts. The next one is tried when one fails, or does not answer within
 * a quarter of a second; the first connection wins.
 */
final class Dialler {

    private static final long STAGGER_MS = 250;

    /** Of the system, for each direction: left to itself it gives several MiB. Enough for 10 MiB/s over 100 ms. */
    private static final int BUFFER = 1 << 20;

    private final Bootstrap bootstrap;
    private final Duration patience;

    Dialler(Duration patience) {
        this.patience = patience;
        this.bootstrap = new Bootstrap()
                .channel(NioSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_RCVBUF, BUFFER)
                .option(ChannelOption.SO_SNDBUF, BUFFER)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(patience.toMillis()))
                // One for all channels: what is to be done with one is decided when it is connected.
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {}
                });
    }

    /** Connects on that loop; the channel is not read yet. */
    Future<Channel> dial(EventLoop loop, List<IpAddress> addresses, int port) {
        Promise<Channel> winner = loop.newPromise();
        Race race = new Race(loop, new ArrayDeque<>(addresses), port, winner);
        var deadline = loop.schedule(
                () -> winner.tryFailure(new ConnectTimeoutException(silence())),
                patience.toMillis(),
                TimeUnit.MILLISECONDS);
        winner.addListener(done -> deadline.cancel(false));
        loop.execute(race::next);
        return winner;
    }

    /** In words, without a full stop, why no connection was made. */
    String why(Throwable failure) {
        if (failure instanceof ConnectTimeoutException) {
            return silence();
        }
        boolean refused = failure instanceof ConnectException
                && String.valueOf(failure.getMessage()).startsWith("Connection refused");
        return refused ? "the host refused the connection: nothing listens on this port" : "no server answered there";
    }

    private String silence() {
        return "no server answered there within " + patience.toMillis() + " ms";
    }

    /** Attempts for one target; everything on its loop. */
    private final class Race {
        private final EventLoop loop;
        private final Queue<IpAddress> left;
        private final int port;
        private final Promise<Channel> winner;
        private int underWay;

        private Race(EventLoop loop, Queue<IpAddress> left, int port, Promise<Channel> winner) {
            this.loop = loop;
            this.left = left;
            this.port = port;
            this.winner = winner;
        }

        private void next() {
            IpAddress address = left.poll();
            if (address == null || winner.isDone()) {
                return;
            }
            underWay++;
            ChannelFuture attempt = bootstrap.clone(loop).connect(new InetSocketAddress(address.toInetAddress(), port));
            winner.addListener(done -> attempt.cancel(false));
            attempt.addListener(done -> ended(attempt));
            if (!left.isEmpty()) {
                var _ = loop.schedule(this::next, STAGGER_MS, TimeUnit.MILLISECONDS);
            }
        }

        private void ended(ChannelFuture attempt) {
            underWay--;
            if (attempt.isSuccess()) {
                if (!winner.trySuccess(attempt.channel())) {
                    var _ = attempt.channel().close();
                }
            } else if (!left.isEmpty()) {
                next();
            } else if (underWay == 0) {
                winner.tryFailure(attempt.cause());
            }
        }
    }
}
