package dev.sandglass.operator.cluster;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.SSLSocketFactory;

/**
 * Stands between an operator and the API server and does harm as it is told: refuses, delays, loses answers, cuts
 * watches. Plain HTTP/1.1 on loopback, one request per connection; behind it the rights of the cluster's administrator,
 * which the operator gives up by impersonation.
 */
public final class FaultyApi implements AutoCloseable {

    private static final int HEAD_BYTES = 64 * 1024;

    /** What happens to one request. */
    public sealed interface Harm {

        /** Nothing. */
        record None() implements Harm {}

        /** The API server is not asked: the answer is this one. */
        record Refuse(int code, String reason) implements Harm {}

        /**
         * Of a watch: it begins, and the first that is told there is that it cannot go on from where it was asked to. So says
         * an API server that has forgotten what happened since, with status 200.
         */
        record Expire() implements Harm {}

        /** The API server is asked later. */
        record Delay(Duration by) implements Harm {}

        /** The API server does what it is asked, and nobody hears of it. */
        record LoseAnswer() implements Harm {}
    }

    /** A request's first line, taken apart. */
    public record Request(String method, String target) {

        public boolean watches() {
            return target.contains("watch=true");
        }

        /** The kind that it is about, as in {@code pods}, if it names no single object. */
        public String resource() {
            String path = target.split("\\?", 2)[0];
            return path.substring(path.lastIndexOf('/') + 1);
        }

        public boolean writes() {
            return !method.equals("GET");
        }
    }

    /** What was done to whom. */
    private record Met(Request request, Harm harm) {}

    private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> watches = ConcurrentHashMap.newKeySet();
    private final Queue<Met> met = new ConcurrentLinkedQueue<>();
    private final URI upstream;
    private final SSLSocketFactory sockets;
    private final Function<Request, Harm> choice;

    public FaultyApi(Config admin, Function<Request, Harm> choice) throws IOException, GeneralSecurityException {
        this.upstream = URI.create(admin.getMasterUrl());
        this.sockets = SSLUtils.sslContext(admin).getSocketFactory();
        this.choice = choice;
        Thread.ofVirtual().start(this::admit);
    }

    public String url() {
        return "http://127.0.0.1:" + door.getLocalPort();
    }

    /** How often harm of that kind was done. */
    public int count(Class<? extends Harm> harm) {
        return (int) met.stream().filter(one -> harm.isInstance(one.harm())).count();
    }

    /** The requests that met exactly that harm. */
    public Stream<Request> met(Harm harm) {
        return met.stream().filter(one -> harm.equals(one.harm())).map(Met::request);
    }

    /** Breaks every watch that is open now; returns how many there were. */
    public int cutWatches() {
        int cut = 0;
        for (Socket watch : watches) {
            close(watch);
            cut++;
        }
        return cut;
    }

    private void admit() {
        while (!door.isClosed()) {
            try {
                Socket client = door.accept();
                Thread.ofVirtual().start(() -> serve(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            byte[] head = head(client.getInputStream());
            String[] line = new String(head, StandardCharsets.US_ASCII).split(" ", 3);
            Request request = new Request(line[0], line[1]);
            Harm harm = choice.apply(request);
            met.add(new Met(request, harm));
            switch (harm) {
                case Harm.None none -> pass(client, head, request, false);
                case Harm.LoseAnswer lose -> pass(client, head, request, true);
                case Harm.Refuse refuse -> refuse(client, refuse);
                case Harm.Expire expire -> expire(client);
                case Harm.Delay delay -> {
                    Thread.sleep(delay.by());
                    pass(client, head, request, false);
                }
            }
        } catch (IOException | InterruptedException gone) {
            // Whoever asked is gone, or was cut off on purpose.
        }
    }

    private void pass(Socket client, byte[] head, Request request, boolean loseAnswer) throws IOException {
        try (Socket server = sockets.createSocket(upstream.getHost(), upstream.getPort())) {
            if (request.watches()) {
                watches.add(client);
            }
            server.getOutputStream().write(single(head));
            Thread.ofVirtual().start(() -> copy(client, server));
            if (loseAnswer) {
                // It has answered, so it has done it.
                server.getInputStream().read();
                return;
            }
            server.getInputStream().transferTo(client.getOutputStream());
        } finally {
            watches.remove(client);
        }
    }

    /** The same head, and no other request on this connection. */
    private static byte[] single(byte[] head) {
        String text = new String(head, StandardCharsets.ISO_8859_1);
        if (text.toLowerCase(Locale.ROOT).contains("\r\nupgrade: websocket")) {
            return head;
        }
        String closing =
                text.replaceAll("(?i)\r\nconnection:[^\r]*", "").replaceFirst("\r\n", "\r\nConnection: close\r\n");
        return closing.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void refuse(Socket client, Harm.Refuse refuse) throws IOException {
        answer(client, refuse.code(), status(refuse.code(), refuse.reason()));
    }

    private static void expire(Socket client) throws IOException {
        answer(client, 200, "{\"type\":\"ERROR\",\"object\":" + status(410, "Expired") + "}\n");
    }

    private static String status(int code, String reason) {
        return """
                {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"%s",\
                "message":"harm was done","code":%d}""".formatted(reason, code);
    }

    private static void answer(Socket client, int code, String body) throws IOException {
        String answer = """
                HTTP/1.1 %d Harm
                Content-Type: application/json
                Content-Length: %d
                Connection: close

                """.formatted(code, body.length()).replace("\n", "\r\n") + body;
        OutputStream out = client.getOutputStream();
        out.write(answer.getBytes(StandardCharsets.US_ASCII));
        client.shutdownOutput();
        // What was sent along has to be read, else the answer may be lost with the connection.
        client.getInputStream().transferTo(OutputStream.nullOutputStream());
    }

    private static byte[] head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        for (int end = 0; end < 4; ) {
            int next = in.read();
            if (next < 0 || head.size() > HEAD_BYTES) {
                throw new IOException("no request");
            }
            head.write(next);
            boolean fits = next == (end % 2 == 0 ? '\r' : '\n');
            end = fits ? end + 1 : next == '\r' ? 1 : 0;
        }
        return head.toByteArray();
    }

    private static void copy(Socket from, Socket to) {
        try {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException gone) {
            // The other direction notices as well.
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException gone) {
            // That is what was wanted.
        }
    }

    @Override
    public void close() throws IOException {
        door.close();
        cutWatches();
    }
}
