package dev.sandglass.gateway.training;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The far side of the link, protocol version 1, that runs nothing: all code prints one line, has one value and ends well at
 * once. It has one thread and speaks JeroMQ.
 */
final class StandInSupervisor implements AutoCloseable {

    private static final int LOOK_UP_MILLIS = 50;
    private static final String PRINTED = "hello\n";
    private static final String VALUE = "2";
    private static final String OUTCOME = """
            {"status":"ok","duration_ms":1.5,"exit_code":0,"signal":null,"kernel_restarted":false,"message":"",\
            "truncated":false}""";
    private static final String ENDED = """
            {"state":"done","position":0,"journal":{"from":0,"end":%d},"outcome":%s}""".formatted(PRINTED.length() + VALUE.length(), OUTCOME);
    private static final String HELLO = """
            {"protocol":1,"boot_id":"training","sandbox_uid":"%s","window":262144}""";
    private static final String LIST = """
            {"kernels":[{"language":"python","session":"default","state":"idle"}],"executions":[]}""";
    private static final String METRICS = """
            {"cpu_seconds":1.5,"cpu_usage_percent":12.5,"cpu_limit":1.0,"memory_bytes":104857600,"disk_bytes":4096,\
            "network_received_bytes":4096,"network_sent_bytes":4096,"uptime_s":3.5}""";

    private final ZMQ.Context context = ZMQ.context(1);
    private final ZMQ.Socket socket = context.socket(SocketType.ROUTER);
    private final Thread thread = new Thread(this::serve, "stand-in-supervisor");
    private final String hello;
    private volatile boolean closed;

    /**
     * Listens on the port of links, with the keys of the sandbox of the training.
     *
     * @param address of loopback, as the sandbox's status names it
     */
    StandInSupervisor(LinkSecret secret, String address) {
        hello = HELLO.formatted(Training.UID);
        socket.setLinger(0);
        socket.setReceiveTimeOut(LOOK_UP_MILLIS);
        socket.setCurveServer(true);
        socket.setCurveSecretKey(LinkKeys.derive(secret, Training.UID, Training.INCARNATION)
                .pod()
                .secretBytes());
        if (!socket.bind("tcp://" + address + ":" + SandboxLabels.LINK_PORT)) {
            throw new IllegalStateException("No stand-in for a supervisor on " + address);
        }
        thread.start();
    }

    private void serve() {
        while (!closed) {
            byte[] peer = socket.recv();
            if (peer != null) {
                List<byte[]> frames = new ArrayList<>();
                while (socket.hasReceiveMore()) {
                    frames.add(socket.recv());
                }
                if (frames.getFirst()[0] == 'V') {
                    answer(peer, frames.get(1), JsonMapper.shared().readTree(frames.get(2)));
                }
            }
        }
        socket.close();
        context.close();
    }

    private void answer(byte[] peer, byte[] requestId, JsonNode request) {
        switch (request.path("verb").asString("")) {
            case "hello" -> reply(peer, requestId, hello);
            case "list" -> reply(peer, requestId, LIST);
            case "metrics" -> reply(peer, requestId, METRICS);
            case "execute", "command", "install", "attach" -> {
                String id = request.path("execution_id").asString("");
                reply(peer, requestId, ENDED);
                output(peer, id, 0, "stdout", "{}", PRINTED);
                output(peer, id, PRINTED.length(), "result", "{\"mime\":\"text/plain\"}", VALUE);
                output(peer, id, PRINTED.length() + VALUE.length(), "outcome", OUTCOME, "");
            }
            default -> reply(peer, requestId, "{}");
        }
    }

    private void reply(byte[] peer, byte[] requestId, String json) {
        send(peer, bytes("R"), requestId, bytes(json));
    }

    private void output(byte[] peer, String executionId, int offset, String kind, String json, String content) {
        send(
                peer,
                bytes("O"),
                bytes(executionId),
                bytes(Integer.toString(offset)),
                bytes(kind),
                bytes(json),
                bytes(content));
    }

    private void send(byte[]... frames) {
        for (int i = 0; i < frames.length; i++) {
            socket.send(frames[i], i < frames.length - 1 ? ZMQ.SNDMORE : 0);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
