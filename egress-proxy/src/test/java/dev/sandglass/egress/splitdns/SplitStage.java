package dev.sandglass.egress.splitdns;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.proxy.EgressProxy;
import dev.sandglass.egress.proxy.Peer;
import dev.sandglass.egress.proxy.Stage;
import dev.sandglass.egress.tunnel.Limits;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A stage with the doors for clients that know no proxy; the servers behind them are on ports as a test says. */
public final class SplitStage implements AutoCloseable {

    static final IpAddress SERVICE = IpAddress.parse("10.96.7.7");
    private static final int PATIENCE_MS = 30_000;

    public final Stage stage;
    final SplitDoors doors;

    public SplitStage(Limits limits, int plainTarget, int tlsTarget, int queries) throws InterruptedException {
        this(new Stage(limits, false, EgressProxy.Guard.TLS_PORTS), plainTarget, tlsTarget, queries);
    }

    public SplitStage(Stage stage, int plainTarget, int tlsTarget, int queries) throws InterruptedException {
        this.stage = stage;
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        doors = new SplitDoors(
                stage.proxy(),
                stage.clients,
                new SplitDoors.Settings(any, any, any, SERVICE, plainTarget, tlsTarget, queries),
                stage.meters);
    }

    /** Connects to the door of plain HTTP. */
    public Peer plain(String source) throws IOException {
        return Peer.connect(source, doors.plainPort());
    }

    /** Connects to the door of TLS. */
    public Peer tls(String source) throws IOException {
        return Peer.connect(source, doors.tlsPort());
    }

    /** Asks by UDP. */
    byte[] ask(String source, byte[] question) throws IOException {
        return ask(source, question, PATIENCE_MS);
    }

    /** Sends by UDP and hears no answer. */
    void send(String source, byte[] question) throws IOException {
        try (DatagramSocket socket =
                new DatagramSocket(new InetSocketAddress(IpAddress.parse(source).toInetAddress(), 0))) {
            socket.send(toTheDoor(question));
        }
    }

    double waitingQuestions() {
        return stage.meters.get("sandglass.egress.queries.waiting").gauge().value();
    }

    private DatagramPacket toTheDoor(byte[] question) {
        return new DatagramPacket(
                question, question.length, new InetSocketAddress(InetAddress.getLoopbackAddress(), doors.dnsPort()));
    }

    /** Sends by UDP; empty if there is no answer after so long. */
    byte[] ask(String source, byte[] question, int patienceMs) throws IOException {
        try (DatagramSocket socket =
                new DatagramSocket(new InetSocketAddress(IpAddress.parse(source).toInetAddress(), 0))) {
            socket.setSoTimeout(patienceMs);
            socket.send(toTheDoor(question));
            DatagramPacket answer = new DatagramPacket(new byte[2000], 2000);
            socket.receive(answer);
            return Arrays.copyOf(answer.getData(), answer.getLength());
        } catch (SocketTimeoutException e) {
            return new byte[0];
        }
    }

    /** Says that on a connection to DNS, and hears everything until it is closed. */
    String stream(String source, byte[]... pieces) throws IOException {
        try (Peer peer = Peer.connect(source, doors.dnsPort())) {
            for (byte[] piece : pieces) {
                peer.say(piece);
            }
            peer.endOutput();
            return peer.rest();
        }
    }

    public static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        doors.close();
        stage.close();
    }
}
