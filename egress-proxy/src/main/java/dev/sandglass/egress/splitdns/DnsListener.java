package dev.sandglass.egress.splitdns;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.dns.Message;
import dev.sandglass.egress.proxy.Sources;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** Carries questions of DNS to the desk and answers back, by UDP and TCP. */
final class DnsListener implements AutoCloseable {

    private static final int MAX_CONNECTIONS = 1000;
    private static final int MAX_CONNECTIONS_OF_ONE = 8;

    private static final int MAX_NEW_CONNECTIONS_OF_ONE = 128;

    /** However busy: a client that asks more opens another connection. */
    private static final long CONNECTION_SECONDS = 10;

    private static final int LENGTH_BYTES = 2;

    private final DnsResponder desk;
    private final Sources sources =
            new Sources(MAX_CONNECTIONS, MAX_CONNECTIONS_OF_ONE, MAX_NEW_CONNECTIONS_OF_ONE, System::nanoTime);
    private final Channel tcp;
    private final Channel udp;

    DnsListener(InetSocketAddress address, DnsResponder desk, EventLoopGroup loops) throws InterruptedException {
        this.desk = desk;
        this.tcp = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel accepted) {
                        accept(accepted);
                    }
                })
                .bind(address)
                .sync()
                .channel();
        this.udp = new Bootstrap()
                .group(loops)
                .channel(NioDatagramChannel.class)
                .handler(new Datagrams())
                // The same number as of TCP, also if any was asked for.
                .bind(new InetSocketAddress(address.getAddress(), port()))
                .sync()
                .channel();
    }

    private void accept(SocketChannel accepted) {
        IpAddress source = IpAddress.of(accepted.remoteAddress().getAddress());
        if (!sources.enter(source)) {
            var _ = accepted.close();
            return;
        }
        accepted.closeFuture().addListener(closed -> sources.leave(source));
        var deadline = accepted.eventLoop()
                .schedule(
                        () -> {
                            var _ = accepted.close();
                        },
                        CONNECTION_SECONDS,
                        TimeUnit.SECONDS);
        accepted.closeFuture().addListener(closed -> deadline.cancel(false));
        accepted.pipeline()
                .addLast(
                        new LengthFieldBasedFrameDecoder(
                                LENGTH_BYTES + Message.MAX_BYTES, 0, LENGTH_BYTES, 0, LENGTH_BYTES),
                        new LengthFieldPrepender(LENGTH_BYTES),
                        new Stream(source));
    }

    int port() {
        return ((InetSocketAddress) tcp.localAddress()).getPort();
    }

    @Override
    public void close() {
        tcp.close().syncUninterruptibly();
        udp.close().syncUninterruptibly();
    }

    /** Questions in datagrams. */
    private final class Datagrams extends SimpleChannelInboundHandler<DatagramPacket> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
            IpAddress source = IpAddress.of(packet.sender().getAddress());
            // What the network does not take would fill the memory.
            if (!context.channel().isWritable()) {
                return;
            }
            InetSocketAddress sender = packet.sender();
            desk.answer(source, ByteBufUtil.getBytes(packet.content()), context.executor(), answer -> {
                var _ = context.writeAndFlush(
                        new DatagramPacket(Unpooled.wrappedBuffer(answer), sender), context.voidPromise());
            });
        }

        /** A datagram that cannot be sent is lost, as any may be. */
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {}
    }

    /** Questions on a connection. Who does not take the answers loses it. */
    private final class Stream extends SimpleChannelInboundHandler<ByteBuf> {
        private final IpAddress source;

        private Stream(IpAddress source) {
            this.source = source;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
            desk.answer(source, ByteBufUtil.getBytes(message), context.executor(), answer -> {
                var _ = context.writeAndFlush(Unpooled.wrappedBuffer(answer));
                if (!context.channel().isWritable()) {
                    var _ = context.close();
                }
            });
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            var _ = context.close();
        }
    }
}
