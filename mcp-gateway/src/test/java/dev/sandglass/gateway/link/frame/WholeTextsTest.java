package dev.sandglass.gateway.link.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class WholeTextsTest {

    @Test
    void halfCharactersBecomeQuestionMarksWhereverTheyAre() {
        assertThat(json("{\"a\":\"\\ud800x\",\"b\":[1,\"\\uDC00\",{\"c\":\"\\ud83d\\ude00\"}],\"d\":null}"))
                .hasToString("{\"a\":\"?x\",\"b\":[1,\"?\",{\"c\":\"😀\"}],\"d\":null}");
    }

    @Test
    void wholeTextsStayAsTheyAre() {
        assertThat(json("{\"a\":\"é\\u00e9\",\"b\":\"\\\\ud800\"}")).hasToString("{\"a\":\"éé\",\"b\":\"\\\\ud800\"}");
    }

    private static JsonNode json(String text) {
        List<byte[]> frames = SupervisorFrames.reply("r", text);
        return ((Inbound.Reply) InboundFrames.decode(frames)).json();
    }
}
