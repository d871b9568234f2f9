package dev.sandglass.gateway.link.frame;

import static dev.sandglass.gateway.link.frame.SupervisorFrames.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class InboundFramesTest {

    private static final long SEED = 20_260_822;

    @Test
    void replyIsItsJsonAndBytes() {
        List<byte[]> frames = List.of(bytes("R"), bytes("r1"), bytes("{\"state\":\"queued\"}"), bytes("blob"));
        assertThat(InboundFrames.decode(frames)).isInstanceOfSatisfying(Inbound.Reply.class, reply -> {
            assertThat(reply.requestId()).isEqualTo("r1");
            assertThat(reply.json().path("state").asString()).isEqualTo("queued");
            assertThat(reply.blob()).isEqualTo(Blob.utf8("blob"));
        });
    }

    /** They stand in answers and conditions; nothing of ours is so long. */
    @Test
    void wordsAreCut() {
        String much = "\ud83d\ude00".repeat(50_000);
        var refusal = (Inbound.Refusal) InboundFrames.decode(SupervisorFrames.refusal("r1", much, "x" + much));
        assertThat(refusal.code()).isEqualTo(much.substring(0, 256));
        assertThat(refusal.message()).isEqualTo(("x" + much).substring(0, 8191));

        var event = (Inbound.Event) InboundFrames.decode(SupervisorFrames.event("python/s", 1, much));
        assertThat(event.event()).hasSize(256);

        String json =
                "{\"name\":\"%1$s\",\"message\":\"%1$s\",\"mime\":\"%1$s\",\"status\":\"%1$s\",\"warning\":\"%1$s\"}"
                        .formatted(much);
        var raised = (OutputRecord.Raised) record("error", json, "");
        assertThat(raised.name()).hasSize(256);
        assertThat(raised.message()).hasSize(8192);
        var shown = (OutputRecord.Shown) record("display", json, "");
        assertThat(shown.mime()).hasSize(256);
        var outcome = (OutputRecord.Outcome) record("outcome", json, "");
        assertThat(outcome.status()).hasSize(256);
        assertThat(outcome.message()).hasSize(8191).endsWith("…");
        assertThat(outcome.warning()).hasSize(8191).endsWith("…");
    }

    @Test
    void refusalIsItsCodeAndMessage() {
        assertThat(InboundFrames.decode(SupervisorFrames.refusal("r1", "rejected", "the queue is full")))
                .isEqualTo(new Inbound.Refusal("r1", "rejected", "the queue is full"));
    }

    @Test
    void eventIsItsKernelAndWord() {
        assertThat(InboundFrames.decode(SupervisorFrames.event("python/default", 3, "ready")))
                .isEqualTo(new Inbound.Event("python/default", 3, "ready"));
    }

    @Test
    void aScaledPictureTellsOfItsFullSize() {
        String full = "{\"mime\":\"image/png\",\"original\":{\"path\":\"%s\",\"bytes\":9,\"width\":2,\"height\":-1}}";
        assertThat(record("display", full.formatted("/p/x.png"), "png"))
                .isEqualTo(new OutputRecord.Shown(
                        7, false, "image/png", Blob.utf8("png"), new OutputRecord.Original("/p/x.png", 9, 2, 0), null));
        for (String path : List.of("", "a\\nb", "p".repeat(4097))) {
            assertThat(record("display", full.formatted(path), "png"))
                    .extracting("original.path")
                    .isNull();
        }
        assertThat(record("display", full.formatted("p".repeat(4096)), "png"))
                .extracting("original.path")
                .isEqualTo("p".repeat(4096));
        assertThat(record("display", "{\"mime\":\"image/png\",\"original\":[1]}", "png"))
                .extracting("original")
                .isNull();
    }

    @Test
    void everyKindOfOutput() {
        assertThat(record("stdout", "", "é"))
                .isEqualTo(new OutputRecord.Text(7, Stream.STDOUT, Blob.utf8("é")))
                .extracting(OutputRecord::end)
                .isEqualTo(9L);
        assertThat(record("stderr", "{}", "e")).isEqualTo(new OutputRecord.Text(7, Stream.STDERR, Blob.utf8("e")));
        assertThat(record("result", "{\"mime\":\"text/plain\",\"metadata\":{}}", "2"))
                .isEqualTo(new OutputRecord.Shown(7, true, "text/plain", Blob.utf8("2"), null, null));
        assertThat(record("display", "{\"mime\":\"image/png\"}", "png"))
                .isEqualTo(new OutputRecord.Shown(7, false, "image/png", Blob.utf8("png"), null, null));
        String anew = "{\"mime\":\"text/plain\",\"display\":{\"id\":\"%s\",\"update\":true}}";
        assertThat(record("display", anew.formatted("x"), "2"))
                .isEqualTo(new OutputRecord.Shown(
                        7, false, "text/plain", Blob.utf8("2"), null, new OutputRecord.Display("x", true)));
        for (String none : List.of("", "x".repeat(513))) {
            assertThat(record("display", anew.formatted(none), "2"))
                    .extracting("display")
                    .isNull();
        }
        assertThat(record("error", "{\"name\":\"E\",\"message\":\"m\"}", "tb"))
                .isEqualTo(new OutputRecord.Raised(7, "E", "m", Blob.utf8("tb")));
        assertThat(record("gap", "{\"from\":7,\"to\":107,\"bytes\":100}", ""))
                .isEqualTo(new OutputRecord.Gap(7, 107))
                .extracting(OutputRecord::end, OutputRecord::length)
                .containsExactly(107L, 100L);
    }

    @Test
    void aDurationIsANumberThatCanBeToldOn() {
        for (String odd : List.of("1e999", "-1e999", "-5", "\"NaN\"", "null")) {
            assertThat(record("outcome", "{\"status\":\"ok\",\"duration_ms\":" + odd + "}", ""))
                    .extracting("durationMs")
                    .isEqualTo(0.0);
        }
    }

    @Test
    void outcomeHasNullsWhereThereIsNothing() {
        assertThat(record("outcome", "{\"status\":\"ok\",\"duration_ms\":12.3,\"exit_code\":null}", ""))
                .isEqualTo(new OutputRecord.Outcome(7, "ok", 12.3, null, null, false, "", null, null, false));
        String full = """
                {"status":"error","duration_ms":1,"exit_code":2,"signal":9,"kernel_restarted":true,\
                "message":"m","warning":"w","truncated":true}""";
        assertThat(record("outcome", full, ""))
                .isEqualTo(new OutputRecord.Outcome(7, "error", 1.0, 2, 9, true, "m", null, "w", true));
    }

    static List<List<byte[]>> oddMessages() {
        byte[] ok = bytes("{}");
        return List.of(
                List.of(),
                List.of(new byte[0]),
                List.of(bytes("RR"), bytes("r"), ok),
                List.of(bytes("X"), bytes("r"), ok),
                List.of(bytes("R"), bytes("r")),
                List.of(bytes("R"), bytes("r"), ok, ok, ok),
                List.of(bytes("R"), new byte[0], ok),
                List.of(bytes("R"), bytes("r".repeat(33)), ok),
                List.of(bytes("R"), bytes("r\n"), ok),
                List.of(bytes("R"), bytes("r"), bytes("[1]")),
                List.of(bytes("R"), bytes("r"), bytes("{\"a\":")),
                List.of(bytes("R"), bytes("r"), new byte[] {(byte) 0xff, 0x00}),
                List.of(bytes("R"), bytes("r"), bytes("{\"a\":\"" + "x".repeat(InboundFrames.MAX_JSON) + "\"}")),
                List.of(bytes("R"), bytes("r"), bytes("[".repeat(100_000))),
                List.of(bytes("R"), bytes("r"), ok, new byte[InboundFrames.MAX_BLOB + 1]),
                List.of(bytes("O"), bytes("x"), bytes("0"), bytes("stdout"), ok),
                List.of(bytes("O"), bytes("x"), bytes("-1"), bytes("stdout"), ok, ok),
                List.of(bytes("O"), bytes("x"), bytes("1".repeat(19)), bytes("stdout"), ok, ok),
                List.of(bytes("O"), bytes("x".repeat(256)), bytes("0"), bytes("stdout"), ok, ok),
                List.of(bytes("O"), bytes("x"), bytes("0"), bytes("strange"), ok, ok),
                List.of(bytes("O"), bytes("x"), bytes("9"), bytes("gap"), bytes("{\"from\":9,\"to\":8}"), ok),
                List.of(bytes("O"), bytes("x"), bytes("9"), bytes("gap"), bytes("{}"), ok),
                List.of(bytes("O"), bytes("x"), bytes("9"), bytes("outcome"), bytes("null"), ok),
                List.of(bytes("E"), bytes("k"), bytes("x"), ok),
                List.of(bytes("E"), bytes("k"), bytes("1"), ok, ok));
    }

    @ParameterizedTest
    @MethodSource("oddMessages")
    void oddMessagesAreMalformed(List<byte[]> frames) {
        assertThat(InboundFrames.decode(frames)).isInstanceOf(Inbound.Malformed.class);
    }

    @Test
    void fieldsOfTheWrongTypeHaveHarmlessValues() {
        assertThat(record(
                        "outcome",
                        "{\"status\":[],\"duration_ms\":{},\"exit_code\":1.5,\"message\":7,\"warning\":7}",
                        ""))
                .isEqualTo(new OutputRecord.Outcome(7, "", 0, null, null, false, "7", null, null, false));
    }

    @Test
    void decodingNeverThrowsWhateverComes() {
        Random random = new Random(SEED);
        List<List<byte[]>> seeds = List.of(
                SupervisorFrames.hello("r1", "uid", "boot"),
                SupervisorFrames.refusal("r1", "rejected", "full"),
                SupervisorFrames.stdout("x", 0, "text"),
                SupervisorFrames.outcome("x", 4, "ok"),
                SupervisorFrames.output("x", 0, "gap", "{\"from\":0,\"to\":5,\"bytes\":5}", new byte[0]),
                SupervisorFrames.event("python/default", 1, "ready"));
        for (int i = 0; i < 50_000; i++) {
            List<byte[]> frames = mutate(seeds.get(random.nextInt(seeds.size())), random);
            assertThat(InboundFrames.decode(frames)).isNotNull();
        }
    }

    private static List<byte[]> mutate(List<byte[]> seed, Random random) {
        List<byte[]> frames = new ArrayList<>(seed);
        for (int changes = random.nextInt(4); changes >= 0; changes--) {
            int at = random.nextInt(frames.size());
            byte[] frame = frames.get(at).clone();
            switch (random.nextInt(5)) {
                case 0 -> frames.add(at, frame);
                case 1 -> frames.remove(at);
                case 2 -> frames.set(at, java.util.Arrays.copyOf(frame, random.nextInt(frame.length + 3)));
                default -> {
                    if (frame.length > 0) {
                        frame[random.nextInt(frame.length)] = (byte) random.nextInt(256);
                    }
                    frames.set(at, frame);
                }
            }
            if (frames.isEmpty()) {
                return frames;
            }
        }
        return frames;
    }

    private static OutputRecord record(String kind, String json, String blob) {
        Inbound message = InboundFrames.decode(SupervisorFrames.output("x", 7, kind, json, bytes(blob)));
        assertThat(message).isInstanceOf(Inbound.Output.class);
        return ((Inbound.Output) message).record();
    }
}
