package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.gateway.zmtp.ServerScript.Flaw;
import dev.sandglass.gateway.zmtp.ServerScript.Kind;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server that has the right key and does what it likes: commands out of order, repeated, truncated, too long, with wrong
 * nonces, names and versions. The wire gets open after greeting, welcome and ready in this order and no other way; the
 * first thing that is wrong ends it, once, and nothing is sent any more.
 */
@Tag("slow")
class ZmtpStatesFuzzTest {

    private static final byte[] SERVER = {
        9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9
    };
    private static final String SECRET = "what only the right server may read";
    private static final byte[] ANY_HELLO = "9".repeat(200).getBytes(StandardCharsets.US_ASCII);
    private static final int MOST_STEPS = 40;
    private static final List<Kind> IN_ORDER = List.of(Kind.GREETING, Kind.WELCOME, Kind.READY);

    /** What the wire waits for. */
    private enum State {
        GREETING,
        WELCOME,
        READY,
        OPEN,
        ENDED
    }

    @Test
    void anyOrderOfAnything() throws IOException {
        List<List<byte[]>> corpus = Stream.of(
                        List.of(Kind.GREETING, Kind.WELCOME, Kind.READY, Kind.MESSAGE, Kind.PING, Kind.MESSAGE),
                        List.of(Kind.GREETING, Kind.WELCOME, Kind.WELCOME, Kind.READY),
                        List.of(Kind.GREETING, Kind.READY, Kind.WELCOME, Kind.MESSAGE),
                        List.of(Kind.READY, Kind.READY, Kind.GREETING),
                        List.of(Kind.GREETING, Kind.WEAK_WELCOME, Kind.READY),
                        List.of(Kind.GREETING, Kind.WELCOME, Kind.READY, Kind.READY, Kind.GREETING))
                .map(kinds -> kinds.stream().map(kind -> good(kind).toBytes()).toList())
                .toList();
        Fuzz.attack(FrameMutator::new, "handshake", corpus, ZmtpStatesFuzzTest::examine);
    }

    /** In every state, every kind with every flaw, each then followed by what would have been right. */
    @Test
    void everyFlawInEveryState() {
        for (int state = 0; state <= IN_ORDER.size(); state++) {
            for (Kind kind : Kind.values()) {
                for (Flaw flaw : Flaw.values()) {
                    for (int detail : new int[] {0, 1, 2, 3, 259, 1024}) {
                        Stream<ServerScript> before =
                                IN_ORDER.stream().limit(state).map(ZmtpStatesFuzzTest::good);
                        Stream<ServerScript> after = Stream.concat(
                                        IN_ORDER.stream().skip(state), Stream.of(Kind.MESSAGE))
                                .map(ZmtpStatesFuzzTest::good);
                        examine(Stream.concat(
                                        Stream.concat(before, Stream.of(new ServerScript(kind, flaw, detail))), after)
                                .map(ServerScript::toBytes)
                                .toList());
                    }
                }
            }
        }
    }

    private static ServerScript good(Kind kind) {
        return new ServerScript(kind, Flaw.NONE, 0);
    }

    private static void examine(List<byte[]> steps) {
        WireUnderTest wire = new WireUnderTest(SERVER);
        wire.wire().send(new byte[][] {SECRET.getBytes(StandardCharsets.US_ASCII)});
        Progress progress = new Progress(wire);
        steps.stream().limit(MOST_STEPS).forEach(progress::step);
        int reports = wire.broken().size();
        wire.end();
        assertThat(wire.timesClosed()).isOne();
        assertThat(wire.broken()).hasSize(reports);
    }

    /** The same wire as a model sees it, step by step. */
    private static final class Progress {

        private final WireUnderTest wire;
        private State state = State.GREETING;
        private boolean wasOpen;
        private int begun;
        private long next = 2;
        private int messages;
        private int last;

        Progress(WireUnderTest wire) {
            this.wire = wire;
        }

        void step(byte[] bytes) {
            ServerScript step = ServerScript.of(bytes);
            byte[] hello = state == State.GREETING || wire.sent().isEmpty() ? ANY_HELLO : wire.hello();
            byte[] sent = step.bytes(wire.server(), hello, next, most());
            State before = state;
            expect(step, sent.length);
            int cut = bytes.length > 4 ? Byte.toUnsignedInt(bytes[4]) % sent.length : 0;
            int sentBefore = wire.bytesSent().length;
            wire.send(Arrays.copyOf(sent, cut));
            wire.send(Arrays.copyOfRange(sent, cut, sent.length));
            if (before == State.ENDED) {
                assertThat(wire.bytesSent()).hasSize(sentBefore);
            }
            check();
        }

        private long most() {
            return state == State.OPEN ? ZmtpWire.MAX_MESSAGE + CurveMessages.OVERHEAD : ZmtpWire.MAX_COMMAND;
        }

        private void expect(ServerScript step, int length) {
            boolean right = step.isGood();
            state = switch (state) {
                case GREETING -> greeted(step, right, length);
                case WELCOME -> right && step.kind() == Kind.WELCOME ? State.READY : State.ENDED;
                case READY -> right && step.kind() == Kind.READY ? State.OPEN : State.ENDED;
                case OPEN -> opened(step, right);
                case ENDED -> State.ENDED;
            };
            wasOpen |= state == State.OPEN;
        }

        /** The first bytes are the greeting, whatever they were meant to be. */
        private State greeted(ServerScript step, boolean right, int length) {
            if (begun == 0 && step.kind() == Kind.GREETING) {
                last = right ? 1 : 0;
                return right && !step.hasRubbishBehind() ? State.WELCOME : State.ENDED;
            }
            begun += length;
            return begun < Zmtp.GREETING ? State.GREETING : State.ENDED;
        }

        private State opened(ServerScript step, boolean right) {
            if (!right || (step.kind() != Kind.MESSAGE && step.kind() != Kind.PING)) {
                return State.ENDED;
            }
            next++;
            messages += step.kind() == Kind.MESSAGE ? 1 : 0;
            return State.OPEN;
        }

        private void check() {
            boolean ended = state == State.ENDED;
            assertThat(wire.isOpen()).isEqualTo(!ended);
            assertThat(wire.broken()).hasSize(ended ? 1 : 0).noneMatch(why -> why.contains("fault"));
            assertThat(wire.timesClosed()).isEqualTo(ended ? 1 : 0);
            assertThat(wire.received()).hasSize(messages);
            assertThat(wire.sent().contains("MESSAGE")).isEqualTo(wasOpen);
            assertThat(wire.sent().stream().filter(name -> !name.equals("MESSAGE")))
                    .isEqualTo(List.of("HELLO", "INITIATE").subList(0, commands()));
            String all = new String(wire.bytesSent(), StandardCharsets.ISO_8859_1);
            assertThat(all)
                    .doesNotContain(SECRET)
                    .doesNotContain(new String(WireUnderTest.clientPublic(), StandardCharsets.ISO_8859_1));
        }

        /** How far the handshake may have come; of one that ended, how far it had come. */
        private int commands() {
            int reached =
                    switch (state) {
                        case GREETING -> 0;
                        case WELCOME -> 1;
                        case READY, OPEN -> 2;
                        case ENDED -> last;
                    };
            last = reached;
            return reached;
        }
    }
}
