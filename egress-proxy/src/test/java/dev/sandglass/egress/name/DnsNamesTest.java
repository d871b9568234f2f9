package dev.sandglass.egress.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Lookups against a server of DNS that this test plays itself. */
class DnsNamesTest {

    // A query has a quarter of it, which the server below may need on a busy machine.
    private static final Duration PATIENCE = Duration.ofSeconds(8);
    private static final int A = 1;
    private static final int AAAA = 28;
    private static final int SERVER_FAILURE = 2;
    private static final int NO_SUCH_NAME = 3;

    private final Map<String, byte[]> answers = new ConcurrentHashMap<>();
    private final List<String> questions = new CopyOnWriteArrayList<>();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicInteger lostOfFour = new AtomicInteger();
    private final AtomicInteger failingOfFour = new AtomicInteger();
    private final AtomicInteger failing = new AtomicInteger();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private @Nullable DatagramSocket server;
    private @Nullable DnsNames names;

    @BeforeEach
    void open() throws IOException {
        DatagramSocket socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        server = socket;
        Thread.startVirtualThread(() -> serve(socket));
        names = new DnsNames(
                loops.next(),
                new SingletonDnsServerAddressStreamProvider(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort())),
                PATIENCE);
    }

    @AfterEach
    void close() {
        if (names != null) {
            names.close();
        }
        if (server != null) {
            server.close();
        }
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void serve(DatagramSocket socket) {
        byte[] buffer = new byte[512];
        while (!socket.isClosed()) {
            DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
            try {
                socket.receive(packet);
                if (lost.getAndUpdate(DnsNamesTest::less) > 0) {
                    continue;
                }
                byte[] query = Arrays.copyOf(buffer, packet.getLength());
                if (type(query) == A && lostOfFour.getAndUpdate(DnsNamesTest::less) > 0) {
                    continue;
                }
                byte[] answer = answer(query);
                socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
            } catch (IOException closed) {
                return;
            }
        }
    }

    /** Where the name of the question ends, with its last byte, which is zero. */
    private static int end(byte[] query) {
        int at = 12;
        while (query[at] != 0) {
            at += 1 + query[at];
        }
        return at;
    }

    private static int type(byte[] query) {
        return query[end(query) + 2];
    }

    /** The question back, with one address of 60 seconds if there is one; else the name does not exist. */
    private byte[] answer(byte[] query) {
        StringBuilder name = new StringBuilder();
        int end = end(query);
        for (int at = 12; at < end; at += 1 + query[at]) {
            name.append(new String(query, at + 1, query[at], StandardCharsets.US_ASCII))
                    .append('.');
        }
        int type = type(query);
        String question = name + (type == AAAA ? " AAAA" : type == A ? " A" : " other");
        questions.add(question);
        byte[] address = answers.get(question);
        boolean exists = answers.keySet().stream().anyMatch(key -> key.startsWith(name + " "));
        ByteArrayOutputStream reply = new ByteArrayOutputStream();
        reply.write(query, 0, 2);
        boolean fails = failing.getAndUpdate(DnsNamesTest::less) > 0
                || (type == A && failingOfFour.getAndUpdate(DnsNamesTest::less) > 0);
        if (fails) {
            address = null;
        }
        int code = fails ? SERVER_FAILURE : exists ? 0 : NO_SUCH_NAME;
        reply.writeBytes(new byte[] {(byte) 0x81, (byte) (0x80 | code), 0, 1, 0, (byte) (address == null ? 0 : 1)});
        reply.writeBytes(new byte[4]);
        reply.write(query, 12, end + 5 - 12);
        if (address != null) {
            reply.writeBytes(new byte[] {(byte) 0xc0, 12, 0, (byte) type, 0, 1, 0, 0, 0, 60, 0, (byte) address.length});
            reply.writeBytes(address);
        }
        return reply.toByteArray();
    }

    private static int less(int count) {
        return Math.max(0, count - 1);
    }

    private List<IpAddress> lookup(String name) throws Exception {
        DnsNames resolver = Objects.requireNonNull(names);
        return resolver.lookup(HostName.parse(name)).toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private void put(String question, String address) {
        answers.put(question, IpAddress.parse(address).toInetAddress().getAddress());
    }

    @Test
    void bothFamiliesAndFromTheCacheTheSecondTime() throws Exception {
        put("example.com. A", "93.184.215.14");
        put("example.com. AAAA", "2606:2800::1");
        List<IpAddress> both = List.of(IpAddress.parse("93.184.215.14"), IpAddress.parse("2606:2800::1"));
        assertThat(lookup("example.com")).containsExactlyInAnyOrderElementsOf(both);
        assertThat(questions).containsExactlyInAnyOrder("example.com. A", "example.com. AAAA");
        assertThat(lookup("example.com")).containsExactlyInAnyOrderElementsOf(both);
        assertThat(questions).hasSize(2);
    }

    @Test
    void onlyTheNameItselfIsAskedFor() throws Exception {
        put("intranet. A", "93.184.215.14");
        assertThat(lookup("intranet")).containsExactly(IpAddress.parse("93.184.215.14"));
        assertThat(questions).allSatisfy(question -> assertThat(question).startsWith("intranet. "));
        assertThatThrownBy(() -> lookup("nowhere.example")).isInstanceOf(ExecutionException.class);
        assertThat(questions)
                .filteredOn(question -> question.startsWith("nowhere"))
                .allSatisfy(question -> assertThat(question).startsWith("nowhere.example. "));
    }

    /** As many lost packets as one attempt has questions; a lookup that gave up would cost a sandbox its connection. */
    @Tag("slow")
    @Test
    void anAnswerThatIsLostIsAskedForAgain() throws Exception {
        put("example.com. A", "93.184.215.14");
        lost.set(2);
        assertThat(lookup("example.com")).containsExactly(IpAddress.parse("93.184.215.14"));
    }

    /** What came of the other family, no address, is no answer for both. */
    @Tag("slow")
    @Test
    void anAnswerOfOneFamilyThatIsLostIsAskedForAgain() throws Exception {
        put("example.com. A", "93.184.215.14");
        lostOfFour.set(1);
        assertThat(lookup("example.com")).containsExactly(IpAddress.parse("93.184.215.14"));
    }

    @Test
    void aServerThatCannotSayOfOneFamilyIsAskedAgain() throws Exception {
        put("example.com. A", "93.184.215.14");
        failingOfFour.set(1);
        assertThat(lookup("example.com")).containsExactly(IpAddress.parse("93.184.215.14"));
    }

    @Test
    void aServerThatCannotSayIsAskedAgain() throws Exception {
        put("example.com. A", "93.184.215.14");
        failing.set(2);
        assertThat(lookup("example.com")).containsExactly(IpAddress.parse("93.184.215.14"));
    }

    @Test
    void aServerThatNeverCanSayIsNotAskedForEver() {
        failing.set(Integer.MAX_VALUE);
        assertThatThrownBy(() -> lookup("example.com"))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(UnknownHostException.class);
        assertThat(questions).hasSize(4);
    }

    @Test
    void aNameThatThereIsNotIsNotAskedForAgain() {
        assertThatThrownBy(() -> lookup("nowhere.example")).hasCauseInstanceOf(Names.NoSuchName.class);
        assertThat(questions).containsExactlyInAnyOrder("nowhere.example. A", "nowhere.example. AAAA");
    }

    /** It is no failure of the server; that both families have none is known after the second time only. */
    @Test
    void aNameWithoutAnyAddressIsAskedForTwice() {
        answers.put("empty.example. TXT", new byte[0]);
        assertThatThrownBy(() -> lookup("empty.example")).hasCauseInstanceOf(Names.NoSuchName.class);
        assertThat(questions.stream().filter("empty.example. A"::equals)).hasSize(2);
    }
}
