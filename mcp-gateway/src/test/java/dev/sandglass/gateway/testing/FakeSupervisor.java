package dev.sandglass.gateway.testing;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkEvent;
import dev.sandglass.gateway.link.LinkStats;
import dev.sandglass.gateway.link.LinkTarget;
import dev.sandglass.gateway.link.OutputReader;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.NextStep;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * A supervisor without a network, for all sandboxes at once. Code is one of: {@code print TEXT}, {@code raise},
 * {@code hang} (until interrupted), {@code draw N} (a picture of N bytes), {@code flood N} (N pieces of 64 KiB, each only when the one before was taken);
 * a command prints its arguments and exits with their number; packages are installed, but not one called
 * {@code missing}, and one called {@code hang} never ends.
 */
public final class FakeSupervisor implements LinkClient, Link {

    /** Every verb that came, in order. */
    public final List<Verb> verbs = new CopyOnWriteArrayList<>();

    /** What it tells of its executions, oldest first: JSON objects. */
    public final List<String> executions = new CopyOnWriteArrayList<>();

    /** Sessions of Python besides the default one, each with its environment, in which three cells ran. */
    public final Map<String, String> sessions = new ConcurrentHashMap<>();

    /** What it warns of when the python_env is {@code late}. */
    public static final String TOO_LATE =
            "Session 'work' runs in env 'data' and goes on in it; python_env 'late' counts"
                    + " when a session begins: use another session, or close this one first.";

    /** How whatever is run ends; null for what its code asks for. */
    public volatile OutputRecord.@Nullable Outcome outcome;

    /** What becomes of whatever is to be run; null if it runs. */
    public volatile @Nullable LinkException failure;

    /** What callers call some of them. */
    public final Map<String, String> labels = new ConcurrentHashMap<>();

    /** Executions that an interrupt finds ended. */
    public final Set<String> ended = ConcurrentHashMap.newKeySet();

    /** Pieces of floods that were taken by the reader. */
    public final AtomicLong taken = new AtomicLong();

    private static final String METRICS = "{\"cpu_seconds\":1.25,\"cpu_usage_percent\":12.5,\"cpu_limit\":0.5,"
            + "\"memory_bytes\":104857600,\"memory_limit_bytes\":536870912,"
            + "\"memory_peak_bytes\":209715200,\"oom_kills\":2,\"disk_bytes\":4096,"
            + "\"disk_limit_bytes\":2147483648,\"pids\":7,\"pids_limit\":256,"
            + "\"network_received_bytes\":5000000000,\"network_sent_bytes\":6,\"kernels\":3,"
            + "\"uptime_s\":3.5}";

    private static final int PIECE = 64 * 1024;

    /** Files of all sandboxes. */
    public final FakeFiles files = new FakeFiles();

    /** MCP servers of all sandboxes. */
    public final FakeToolServers servers = new FakeToolServers();

    private final JsonMapper json = JsonMapper.shared();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final Map<String, OutputReader> hanging = new ConcurrentHashMap<>();
    private volatile int drawn;
    private volatile boolean drawnForever;
    private volatile boolean silentMetrics;
    private final AtomicInteger silentLists = new AtomicInteger();
    private volatile Runnable onTheWay = () -> {};
    private volatile Runnable afterwards = () -> {};
    private volatile boolean unreachable;
    private volatile String executing = "{\"state\":\"running\",\"position\":0}";
    private volatile String kernel = "\"state\":\"idle\"";

    /** From now on nobody gets through to it. */
    public void vanish() {
        unreachable = true;
    }

    /** What is asked for from now on waits behind others, which may take so many seconds. */
    public void queue(String seconds) {
        executing = "{\"state\":\"queued\",\"position\":1,\"waits_s\":%s}".formatted(seconds);
    }

    /** The default kernel was given up. */
    public void giveUp(String trouble) {
        kernel = "\"state\":\"dead\",\"trouble\":\"%s\"".formatted(trouble);
    }

    /** From now on what is read of any execution is a picture of so many bytes. */
    public void draw(int bytes) {
        drawn = bytes;
    }

    /** What drew it runs on, whatever it draws. */
    public void drawForever() {
        drawnForever = true;
    }

    /** Metrics are never answered from now on. */
    public void silenceMetrics() {
        silentMetrics = true;
    }

    /** So many lists of files from now on are never answered. */
    public void silenceLists(int count) {
        silentLists.set(count);
    }

    /** Ids of executions that were interrupted. */
    public List<String> interrupted() {
        return verbs.stream()
                .filter(Verb.Interrupt.class::isInstance)
                .map(verb -> ((Verb.Interrupt) verb).executionId())
                .toList();
    }

    @Override
    public Link link(LinkTarget target) {
        return this;
    }

    @Override
    public LinkStats stats() {
        return new LinkStats(0, 0, 0, 0, 0, 0);
    }

    @Override
    public CompletableFuture<Answer> ask(Verb verb, Duration timeout) {
        verbs.add(verb);
        boolean silent =
                switch (verb) {
                    case Verb.Metrics _ -> silentMetrics;
                    case Verb.RegisterServer _ -> servers.silent;
                    case Verb.Files(FileOperation.ListFolder _) ->
                        silentLists.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
                    default -> false;
                };
        if (silent) {
            var never = new CompletableFuture<Answer>();
            if (verb instanceof Verb.RegisterServer) {
                servers.unanswered.add(never);
            }
            return never;
        }
        if (verb instanceof Verb.CallServerTool call) {
            return servers.called(call);
        }
        return CompletableFuture.supplyAsync(() -> answer(verb), thread);
    }

    private Answer answer(Verb verb) {
        return switch (verb) {
            case Verb.Metrics _ -> answer(METRICS);
            case Verb.Interrupt interrupt -> {
                OutputReader reader = hanging.remove(interrupt.executionId());
                if (reader != null) {
                    thread.execute(() -> reader.record(outcome(0, "interrupted", null)));
                }
                boolean runs = !ended.contains(interrupt.executionId());
                yield answer("{\"interrupted\":[%s]}".formatted(runs ? "\"" + interrupt.executionId() + "\"" : ""));
            }
            case Verb.ListAll all ->
                answer("{\"kernels\":[{\"language\":\"python\",\"session\":\"default\"," + kernel
                        + ",\"python_env\":\"data\"}" + others() + "],\"executions\":[" + String.join(",", executions)
                        + "]}");
            case Verb.Hello hello ->
                answer("{\"protocol\":1,\"kernels\":[{\"language\":\"python\",\"session\":\"default\","
                        + "\"state\":\"idle\"}]}");
            case Verb.Configure _ ->
                throw new IllegalStateException("The link configures, which this takes the place of");
            case Verb.OfSession other
            when !other.session().equals("default") && !sessions.containsKey(other.session()) ->
                answer("{\"state\":\"unused\"}");
            case Verb.InterruptSession interrupt -> answer("{\"interrupted\":[]}");
            case Verb.Reset reset -> answer("{\"state\":\"idle\"}");
            case Verb.Close close -> answer("{}");
            case Verb.Files asked -> files.answer(asked.operation());
            case Verb.Detach detach -> answer("{}");
            case Verb.OfServers about -> servers.answered(about);
            case Verb.Following background -> answer(executing);
        };
    }

    private String others() {
        return sessions.entrySet().stream()
                .map(each -> (",{\"language\":\"python\",\"session\":\"%s\",\"state\":\"busy\",\"executions\":3,"
                                + "\"uptime_s\":1.5,\"python_env\":%s,\"label\":%s}")
                        .formatted(each.getKey(), each.getValue(), json.valueToTree(labels.get(each.getKey()))))
                .collect(Collectors.joining());
    }

    private Answer answer(String text) {
        return new Answer(json.readTree(text), Blob.EMPTY);
    }

    @Override
    public CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader, Duration timeout) {
        verbs.add(verb);
        LinkException broken = failure;
        if (broken != null) {
            return CompletableFuture.failedFuture(broken);
        }
        // All may have come before the caller goes on: the worst that a network and a slow thread can do.
        CompletableFuture<Answer> answered = new CompletableFuture<>();
        thread.execute(() -> {
            Answer answer = verb instanceof Verb.Attach
                    ? answer("{\"state\":\"running\",\"journal\":{\"from\":0,\"end\":5},\"outcome\":null}")
                    : answer(executing);
            reader.begun(answer);
            play(verb, reader);
            afterwards.run();
            answered.complete(answer);
        });
        return answered;
    }

    /** Whatever is run next does that on its way. */
    public void meanwhile(Runnable deed) {
        onTheWay = deed;
    }

    /** Whatever is run does that right after its end was told. */
    public void afterwards(Runnable deed) {
        afterwards = deed;
    }

    private void play(Verb.Following verb, OutputReader reader) {
        Runnable deed = onTheWay;
        onTheWay = () -> {};
        deed.run();
        OutputRecord.Outcome end = outcome;
        if (end != null) {
            reader.record(end);
            return;
        }
        switch (verb) {
            case Verb.Execute execute when "late".equals(execute.pythonEnv()) -> reader.record(late());
            case Verb.Execute execute when "bare".equals(execute.pythonEnv()) -> reader.record(bare());
            case Verb.Execute execute ->
                code(execute.executionId(), new String(execute.code().bytes(), StandardCharsets.UTF_8), reader);
            case Verb.Command command -> {
                say(reader, 0, String.join(" ", command.args()));
                reader.record(outcome(0, "ok", command.args().size()));
            }
            case Verb.Install install -> install(install, reader);
            case Verb.Attach attach
            when drawn > 0 -> {
                Blob picture = Blob.of(new byte[drawn]);
                reader.record(new OutputRecord.Shown(0, false, "image/png", picture, null, null));
                if (!drawnForever) {
                    reader.record(outcome(drawn, "ok", null));
                }
            }
            case Verb.Attach attach -> {
                say(reader, attach.from(), "hello".substring((int) attach.from()));
                reader.record(outcome(5, "ok", null));
            }
        }
    }

    private static OutputRecord.Outcome late() {
        return new OutputRecord.Outcome(0, "ok", 1.5, null, null, false, "", null, TOO_LATE, false);
    }

    private static OutputRecord.Outcome bare() {
        var install = new NextStep.RunCommand(NextStep.RunCommand.Purpose.INSTALL, "pip install ipykernel");
        return new OutputRecord.Outcome(
                0, "env_error", 0, null, null, false, "ipykernel not found.", install, null, false);
    }

    private void install(Verb.Install install, OutputReader reader) {
        if (install.packages().contains("hang")) {
            hanging.put(install.executionId(), reader);
            return;
        }
        boolean there = !install.packages().contains("missing");
        String text = "installer of " + install.language() + "\n";
        say(reader, 0, text);
        String message = there ? "" : "What to do.";
        reader.record(new OutputRecord.Outcome(
                text.length(), there ? "ok" : "error", 1.5, there ? 0 : 1, null, false, message, null, null, false));
    }

    private void code(String id, String code, OutputReader reader) {
        if (code.equals("hang")) {
            hanging.put(id, reader);
        } else if (code.equals("raise")) {
            reader.record(new OutputRecord.Raised(0, "ZeroDivisionError", "division by zero", Blob.utf8("Traceback")));
            reader.record(outcome(9, "error", null));
        } else if (code.startsWith("draw ")) {
            int bytes = Integer.parseInt(code.substring("draw ".length()));
            reader.record(new OutputRecord.Shown(0, false, "image/png", Blob.of(new byte[bytes]), null, null));
            reader.record(outcome(bytes, "ok", null));
        } else if (code.startsWith("flood ")) {
            flood(reader, 0, Integer.parseInt(code.substring("flood ".length())));
        } else {
            String text = code.startsWith("print ") ? code.substring("print ".length()) : "";
            say(reader, 0, text);
            reader.record(outcome(text.length(), "ok", null));
        }
    }

    private void flood(OutputReader reader, int piece, int pieces) {
        if (piece == pieces) {
            reader.record(outcome((long) pieces * PIECE, "ok", null));
            return;
        }
        Blob text = Blob.utf8("x".repeat(PIECE));
        var record = new OutputRecord.Text((long) piece * PIECE, OutputRecord.Stream.STDOUT, text);
        var _ = reader.record(record)
                .thenRunAsync(
                        () -> {
                            taken.incrementAndGet();
                            flood(reader, piece + 1, pieces);
                        },
                        thread);
    }

    private static void say(OutputReader reader, long offset, String text) {
        if (!text.isEmpty()) {
            reader.record(new OutputRecord.Text(offset, OutputRecord.Stream.STDOUT, Blob.utf8(text)));
        }
    }

    private static OutputRecord.Outcome outcome(long offset, String status, @Nullable Integer exitCode) {
        return new OutputRecord.Outcome(offset, status, 1.5, exitCode, null, false, "", null, null, false);
    }

    @Override
    public void unfollow(OutputReader reader) {
        hanging.values().remove(reader);
    }

    @Override
    public Subscription events(Consumer<LinkEvent> listener) {
        if (!unreachable) {
            thread.execute(() -> listener.accept(new LinkEvent.Opened("boot")));
        }
        return () -> {};
    }

    @Override
    public void release() {
        // It knows no connections.
    }

    @Override
    public boolean isOpen() {
        return !unreachable;
    }

    @Override
    public void execute(Runnable action) {
        thread.execute(action);
    }

    @Override
    public Subscription after(Duration delay, Runnable action) {
        var scheduled = thread.schedule(action, delay.toMillis(), TimeUnit.MILLISECONDS);
        return () -> scheduled.cancel(false);
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
