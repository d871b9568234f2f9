package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.frame.SupervisorFrames.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.InboundFrames;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Meaning;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.RecordedFrames;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Whatever a supervisor says, or who speaks in its name: a message is understood or malformed, and nothing else. */
class LinkFuzzTest {

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final LinkTarget TARGET = new LinkTarget("uid-1", 7, "127.0.0.1", 5710);

    @Test
    void anyFrames() throws IOException {
        List<List<byte[]>> corpus = RecordedFrames.load(RecordedFrames.FROM_SUPERVISOR).stream()
                .map(RecordedFrames.Recorded::frames)
                .toList();
        Fuzz.attack(FrameMutator::new, "link", corpus, LinkFuzzTest::examine);
    }

    private static void examine(List<byte[]> frames) {
        Inbound message = InboundFrames.decode(frames);
        switch (message) {
            case Inbound.Reply reply -> {
                List<byte[]> again = List.of(
                        bytes("R"),
                        bytes(reply.requestId()),
                        JSON.writeValueAsBytes(reply.json()),
                        reply.blob().bytes());
                assertThat(InboundFrames.decode(again)).isInstanceOf(Inbound.class);
                hello(reply.json());
            }
            case Inbound.Refusal refusal -> sound(refusal.code(), refusal.message());
            case Inbound.Event event -> {
                sound(event.event());
                assertThat(event.seq()).isNotNegative();
            }
            case Inbound.Call call -> {
                assertThat(call.kind()).matches("[a-z][a-z0-9_]{0,62}");
                sound(call.callId(), call.executionId());
            }
            case Inbound.Withdrawal withdrawal -> sound(withdrawal.callId());
            case Inbound.Malformed malformed -> assertThat(malformed.reason()).isNotEmpty();
            case Inbound.Output output -> {
                assertThat(InboundFrames.decode(again(output))).isEqualTo(output);
                sound(output.record());
            }
        }
    }

    private static void hello(JsonNode json) {
        try {
            assertThat(Hello.parse(json, TARGET).window()).isBetween(1024L, 1024L * 1024);
        } catch (LinkException refused) {
            assertThat(refused).hasMessageContaining("cannot be used");
        }
    }

    private static void sound(OutputRecord record) {
        assertThat(record.offset()).isNotNegative();
        assertThat(record.length()).isNotNegative();
        assertThat(record.end()).isGreaterThanOrEqualTo(record.offset());
        switch (record) {
            case OutputRecord.Shown shown -> sound(shown.mime());
            case OutputRecord.Raised raised -> sound(raised.name(), raised.message());
            case OutputRecord.Outcome outcome -> {
                sound(outcome.status(), outcome.message());
                assertThat(outcome.durationMs()).isFinite();
            }
            case OutputRecord.Text _, OutputRecord.Cleared _, OutputRecord.Gap _ -> {}
        }
    }

    /** An answer to a client can be made of it: half a character would be none. */
    private static void sound(String... texts) {
        for (String text : texts) {
            assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(text))
                    .as("half a character")
                    .isTrue();
        }
    }

    /** The same as a supervisor would say it. */
    private static List<byte[]> again(Inbound.Output output) {
        JsonNode said = Meaning.of(output);
        OutputRecord record = output.record();
        var json = JSON.createObjectNode();
        byte[] blob =
                switch (record) {
                    case OutputRecord.Text text -> text.utf8().bytes();
                    case OutputRecord.Shown shown -> {
                        json.put("mime", shown.mime());
                        json.set("original", said.path("original"));
                        json.set("display", said.path("display"));
                        yield shown.content().bytes();
                    }
                    case OutputRecord.Raised raised -> {
                        json.put("name", raised.name()).put("message", raised.message());
                        yield raised.traceback().bytes();
                    }
                    case OutputRecord.Cleared cleared -> {
                        json.putObject("clear").put("wait", cleared.later());
                        yield new byte[0];
                    }
                    case OutputRecord.Gap gap -> {
                        json.put("to", gap.end());
                        yield new byte[0];
                    }
                    case OutputRecord.Outcome outcome -> {
                        json.setAll((tools.jackson.databind.node.ObjectNode) said);
                        json.put("message", outcome.message());
                        yield new byte[0];
                    }
                };
        return List.of(
                bytes("O"),
                bytes(output.executionId()),
                bytes(Long.toString(record.offset())),
                bytes(said.path("kind").asString()),
                JSON.writeValueAsBytes(json),
                blob);
    }
}
