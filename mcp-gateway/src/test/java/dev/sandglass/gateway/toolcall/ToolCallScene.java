package dev.sandglass.gateway.toolcall;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.testing.FakeHandshakeNotes;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.testing.FakeSupervisor;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A gateway that answers calls, before servers' pods that a test makes up, with a clock that is set by hand. */
final class ToolCallScene implements AutoCloseable {

    /** Of the sandbox {@code box} in the namespace {@code sandglass-default}, with the label {@code team: a}. */
    static final String BOX = "uid-box";

    /** Of a sandbox in another namespace, with the same labels. */
    static final String OTHER = "uid-other";

    private static final Logger AUDIT = (Logger) LoggerFactory.getLogger("audit");
    private static final JsonMapper JSON = JsonMapper.shared();

    /** A machine on which much else runs takes that long to start a server. */
    private static final int PATIENCE_SECONDS = 60;

    final FakeSharedServers servers = new FakeSharedServers();
    final FakeHandshakeNotes notes = new FakeHandshakeNotes();
    final DeniedHosts denied = new DeniedHosts();
    final FakeSandboxes children = new FakeSandboxes();
    final FakeSupervisor supervisor = new FakeSupervisor();
    final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final AtomicLong nanos = new AtomicLong();
    final SharedServerList list;
    final ToolCalls calls;
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    ToolCallScene() {
        this(new ByteBudget(ToolCalls.ALL_BYTES, ToolCalls.NAMESPACE_BYTES));
    }

    ToolCallScene(ByteBudget bytes) {
        list = new SharedServerList(servers, children::find);
        calls = new ToolCalls(
                servers,
                list,
                children,
                _ -> supervisor,
                bytes,
                new ToolCalls.Means(clock, Schedulers.immediate(), nanos::get, meters, notes, denied));
        servers.add(BOX, "sandglass-default", Map.of("team", "a"));
        servers.add(OTHER, "sandglass-other", Map.of("team", "a"));
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        AUDIT.addAppender(lines);
    }

    /** Has a server's pod run. */
    void run(String resource) {
        children.addRunning(resource + "-mcp");
    }

    CompletableFuture<PodAnswer> ask(String uid, String kind, String arguments, String blob) {
        return ask(uid, "e-1", kind, arguments, blob);
    }

    CompletableFuture<PodAnswer> ask(String uid, String execution, String kind, String arguments, String blob) {
        ObjectNode json = (ObjectNode) JSON.readTree(arguments.replace('\'', '"'));
        return calls.answer(new PodCall(uid, 1, kind, execution, json, Blob.utf8(blob)));
    }

    /** Calls {@code web.search} with these arguments from the box. */
    CompletableFuture<PodAnswer> search(String blob) {
        return ask(BOX, "tool_call", "{'server':'web','tool':'search','timeout_s':60}", blob);
    }

    /** What an answer has besides its JSON. */
    static String blob(CompletableFuture<PodAnswer> answer) throws Exception {
        PodAnswer given = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        return new String(given.answer().blob().bytes(), StandardCharsets.UTF_8);
    }

    /** The problem with which a call failed. */
    static LinkException problem(CompletableFuture<PodAnswer> answer) throws InterruptedException, TimeoutException {
        try {
            throw new AssertionError("answered with " + answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof LinkException known) {
                return known;
            }
            throw new AssertionError("no problem that code is told", failed);
        }
    }

    <T extends Verb> List<T> verbs(Class<T> type) {
        return supervisor.verbs.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .toList();
    }

    /** The audit lines, each on one. */
    List<String> audit() {
        return lines.list.stream()
                .map(line -> line.getFormattedMessage()
                        + line.getKeyValuePairs().stream()
                                .map(pair -> " " + pair.key + "=" + pair.value)
                                .collect(Collectors.joining()))
                .toList();
    }

    /** How many calls ended so. */
    long counted(String kind, String outcome) {
        Timer timer = meters.find("sandglass.tool.server.calls")
                .tag("kind", kind)
                .tag("outcome", outcome)
                .timer();
        return timer == null ? 0 : timer.count();
    }

    @Override
    public void close() {
        AUDIT.detachAppender(lines);
        supervisor.close();
        clock.dispose();
    }
}
