package dev.sandglass.egress.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.IpAddress;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several addresses of one name, of which some do not answer. */
class DiallerTest {

    private static final String OPEN = "127.0.0.1";
    private static final String CLOSED = "127.0.0.2";
    private static final String SILENT = "127.0.0.3";

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final List<Socket> waiting = new ArrayList<>();
    private ServerSocket open;
    private ServerSocket silent;

    @BeforeEach
    void listen() throws IOException {
        open = new ServerSocket(0, 10, IpAddress.parse(OPEN).toInetAddress());
        silent =
                new ServerSocket(open.getLocalPort(), 1, IpAddress.parse(SILENT).toInetAddress());
        fill();
    }

    /** A queue that is full takes no further connection and does not say so. */
    private void fill() throws IOException {
        while (true) {
            Socket socket = new Socket();
            waiting.add(socket);
            try {
                socket.connect(
                        new InetSocketAddress(IpAddress.parse(SILENT).toInetAddress(), silent.getLocalPort()), 300);
            } catch (SocketTimeoutException full) {
                return;
            }
        }
    }

    @AfterEach
    void close() throws IOException {
        for (Socket socket : waiting) {
            socket.close();
        }
        silent.close();
        open.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Future<Channel> dial(Duration patience, String... addresses) throws InterruptedException {
        List<IpAddress> all = Stream.of(addresses).map(IpAddress::parse).toList();
        Future<Channel> dialled = new Dialler(patience).dial(loops.next(), all, open.getLocalPort());
        assertThat(dialled.await(20, TimeUnit.SECONDS)).isTrue();
        return dialled;
    }

    private static String reached(Future<Channel> dialled) {
        Channel channel = dialled.getNow();
        String address =
                ((InetSocketAddress) channel.remoteAddress()).getAddress().getHostAddress();
        channel.close().syncUninterruptibly();
        return address;
    }

    @Test
    void theNextIsTriedWhenOneRefuses() throws InterruptedException {
        assertThat(reached(dial(Duration.ofSeconds(10), CLOSED, OPEN))).isEqualTo(OPEN);
    }

    @Test
    void theNextIsTriedWhenOneIsSilent() throws InterruptedException {
        assertThat(reached(dial(Duration.ofSeconds(10), SILENT, OPEN))).isEqualTo(OPEN);
    }

    @Tag("slow")
    @Test
    void whoNeverAnswersIsGivenUp() throws InterruptedException {
        Future<Channel> dialled = dial(Duration.ofMillis(400), SILENT);
        assertThat(dialled.isSuccess()).isFalse();
        assertThat(new Dialler(Duration.ofMillis(400)).why(dialled.cause()))
                .isEqualTo("no server answered there within 400 ms");
    }

    @Tag("slow")
    @Test
    void whoAreAllClosedSaySo() throws InterruptedException {
        assertThat(dial(Duration.ofSeconds(10), CLOSED, CLOSED).cause()).isInstanceOf(IOException.class);
    }
}
