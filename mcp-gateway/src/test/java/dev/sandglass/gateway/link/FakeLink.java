package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.call.DrainableCalls;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.InboundFrames;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A connection on wires of paper and a clock that is set by hand. */
final class FakeLink implements Connection.Owner {

    static final LinkTarget TARGET = new LinkTarget("uid-1", 1, "127.0.0.1", 5710);
    /** The id of the seat that sandbox {@code uid-1} claimed. */
    static final String SEAT = "5ea75ea7-0000-4000-8000-000000000001";

    /** The same sandbox in that seat. */
    static final LinkTarget IN_SEAT = new LinkTarget("uid-1", 1, Optional.of(new SeatId(SEAT)), "127.0.0.1", 5710);

    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Queue<Runnable> commands = new ArrayDeque<>();
    private long clock;
    private int ids;

    private final List<Timer> timers = new ArrayList<>();
    final List<PaperWire> wires = new ArrayList<>();
    final Counters counters = new Counters("test");
    /** What it answers; the test completes them. */
    final FakeCalls calls = new FakeCalls();

    final DrainableCalls drainable = new DrainableCalls(calls);

    /** What its seat is to be configured with; empty as long as that is not known. */
    Optional<SeatConfiguration> configuration = Optional.empty();

    final Connection connection;
    final Dialling dialling;

    /** To a pod that was made for the sandbox. */
    FakeLink() {
        this(TARGET);
    }

    /** To that one. */
    FakeLink(LinkTarget target) {
        connection = new Connection(target, this::dial, this, counters);
        dialling = connection.dialling();
    }

    /** Something to do when the clock shows that time. */
    private static final class Timer {
        final long due;
        final Runnable action;

        Timer(long due, Runnable action) {
            this.due = due;
            this.action = action;
        }
    }

    @Override
    public long now() {
        return clock;
    }

    @Override
    public Link.Subscription after(long nanos, Runnable action) {
        Timer timer = new Timer(clock + nanos, action);
        timers.add(timer);
        return () -> timers.remove(timer);
    }

    @Override
    public void execute(Runnable action) {
        commands.add(action);
    }

    @Override
    public String nextId() {
        return "r" + ++ids;
    }

    @Override
    public Pending pending(Verb verb, @Nullable Attachment attachment) {
        String id = nextId();
        return new Pending(id, verb, LinkFrames.verb(id, verb), attachment);
    }

    @Override
    public PodCalls calls() {
        return drainable;
    }

    @Override
    public SeatConfigurations seats() {
        return target -> configuration.filter(_ -> target.equals(IN_SEAT));
    }

    CompletableFuture<Answer> ask(Verb verb) {
        Pending pending = pending(verb, null);
        connection.submit(pending, TIMEOUT);
        return pending.answer();
    }

    CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader) {
        Pending pending = pending(verb, new Attachment(verb.executionId(), reader, verb.from()));
        connection.submit(pending, TIMEOUT);
        return pending.answer();
    }

    /** Asks and does not care. */
    void asks(Verb verb) {
        asks(verb, TIMEOUT);
    }

    /** Asks, waits that long, and does not care. */
    void asks(Verb verb, Duration timeout) {
        connection.submit(pending(verb, null), timeout);
    }

    /** Follows and does not care for the answer. */
    void follows(Verb.Following verb, OutputReader reader) {
        connection.submit(pending(verb, new Attachment(verb.executionId(), reader, verb.from())), TIMEOUT);
    }

    void runCommands() {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
        }
    }

    void pass(Duration time) {
        clock += time.toNanos();
        for (Optional<Timer> due = nextDue(); due.isPresent(); due = nextDue()) {
            timers.remove(due.get());
            due.get().action.run();
        }
        runCommands();
    }

    private Optional<Timer> nextDue() {
        return timers.stream().filter(timer -> timer.due <= clock).min(Comparator.comparingLong(timer -> timer.due));
    }

    /** The wire in use. */
    PaperWire wire() {
        return wires.getLast();
    }

    /** Lets the newest wire connect and its hello be answered. */
    PaperWire open(String bootId) {
        PaperWire wire = wire();
        dialling.connected(wire);
        dialling.greeted(wire);
        wire.says(SupervisorFrames.hello(wire.idOf("hello"), TARGET.sandboxUid(), bootId));
        return wire;
    }

    /** The same, with a supervisor that tells in JSON what its network let it reach. */
    PaperWire openReaching(String bootId, String reached) {
        PaperWire wire = wire();
        dialling.connected(wire);
        dialling.greeted(wire);
        wire.says(SupervisorFrames.reply(wire.idOf("hello"), """
                {"protocol":1,"boot_id":"%s","sandbox_uid":"%s","window":262144,\
                "network":{"reached":%s,"refusal":null}}""".formatted(bootId, TARGET.sandboxUid(), reached)));
        return wire;
    }

    /** Lets the newest wire connect, and a seat answer its hello that is configured for that, in JSON. */
    PaperWire greetSeat(String bootId, String configuredFor) {
        PaperWire wire = wire();
        dialling.connected(wire);
        dialling.greeted(wire);
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), SEAT, bootId, configuredFor));
        return wire;
    }

    private Wire dial(Connection ignored) {
        PaperWire wire = new PaperWire();
        wires.add(wire);
        return wire;
    }

    /** Keeps what is sent. */
    final class PaperWire implements Wire {
        final List<byte[][]> sent = new ArrayList<>();
        boolean closed;
        boolean ready = true;

        @Override
        public boolean isReady() {
            return ready;
        }

        /** Its far side reads again. */
        void reads() {
            ready = true;
            connection.ready(this);
        }

        @Override
        public void send(byte[][] frames) {
            assertThat(closed).as("sent on a closed wire").isFalse();
            sent.add(frames);
        }

        @Override
        public void close() {
            closed = true;
        }

        void says(List<byte[]> frames) {
            connection.received(this, InboundFrames.decode(frames));
        }

        /** The verbs that were sent, and {@code credit <id> <offset>} for acknowledgements. */
        List<String> said() {
            return sent.stream().map(PaperWire::word).toList();
        }

        /** The request id of the last verb of that name. */
        String idOf(String verb) {
            return sent.stream()
                    .filter(frames -> word(frames).startsWith(verb))
                    .map(frames -> text(frames[1]))
                    .reduce((_, last) -> last)
                    .orElseThrow(() -> new AssertionError(verb + " was not sent, but " + said()));
        }

        private static String word(byte[][] frames) {
            if (text(frames[0]).equals("C")) {
                return "credit " + text(frames[1]) + " " + text(frames[2]);
            }
            if (text(frames[0]).equals("U")) {
                return "returned " + text(frames[1]) + " " + text(frames[2]);
            }
            JsonNode json = JsonMapper.shared().readTree(frames[2]);
            JsonNode offset = json.path("offset");
            return json.path("verb").asString() + (offset.isMissingNode() ? "" : " " + offset.asString());
        }

        private static String text(byte[] frame) {
            return new String(frame, StandardCharsets.UTF_8);
        }
    }

    /** Keeps what it is told; consumes it when told to. */
    static final class Reader implements OutputReader {
        final List<Answer> answers = new ArrayList<>();
        final List<OutputRecord> records = new ArrayList<>();
        final List<CompletableFuture<Void>> open = new ArrayList<>();
        final List<LinkException> losses = new ArrayList<>();
        boolean slow;

        @Override
        public void begun(Answer answer) {
            answers.add(answer);
        }

        @Override
        public CompletionStage<?> record(OutputRecord record) {
            records.add(record);
            CompletableFuture<Void> stage = new CompletableFuture<>();
            if (slow) {
                open.add(stage);
            } else {
                stage.complete(null);
            }
            return stage;
        }

        @Override
        public void lost(LinkException why) {
            losses.add(why);
        }
    }

    /** Answers calls of the kind {@code tool}, each when the test says so; {@code fault} throws. */
    static final class FakeCalls implements PodCalls {
        final List<PodCall> came = new ArrayList<>();
        final List<CompletableFuture<PodAnswer>> answers = new ArrayList<>();

        @Override
        public Set<String> kinds() {
            return Set.of("tool", "fault");
        }

        @Override
        public CompletableFuture<PodAnswer> answer(PodCall call) {
            if (call.kind().equals("fault")) {
                throw new IllegalStateException("a secret of the gateway");
            }
            came.add(call);
            var answer = new CompletableFuture<PodAnswer>();
            answers.add(answer);
            return answer;
        }
    }
}
