package dev.sandglass.gateway.link.frame;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.NextStep.RunCommand.Purpose;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** Hints of outcomes: what is known, and the bounds of what a pod may say. */
class HintsTest {

    private static @Nullable NextStep hint(String json) {
        return OutputRecord.Outcome.parse(0, JsonMapper.shared().readTree("{\"hint\":" + json + "}"))
                .next();
    }

    private static @Nullable NextStep command(String line) {
        return hint("{\"kind\":\"install\",\"line\":\"" + line + "\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "7",
                "[]",
                "{}",
                "{\"kind\":7}",
                "{\"kind\":\"of_a_newer_supervisor\",\"line\":\"ls\"}",
                "{\"kind\":\"create\"}",
                "{\"kind\":\"install\"}",
                "{\"kind\":\"install\",\"line\":[]}",
                "{\"kind\":\"install\",\"line\":\" \\n\"}"
            })
    void whatIsNotKnownIsNone(String json) {
        assertThat(hint(json)).isNull();
    }

    @Test
    void stepsWithoutValues() {
        assertThat(hint("{\"kind\":\"stop_and_start\"}")).isEqualTo(NextStep.Plain.STOP_AND_START);
        assertThat(hint("{\"kind\":\"more_time\"}")).isEqualTo(NextStep.Plain.MORE_TIME);
        assertThat(hint("{\"kind\":\"free_memory\",\"more\":1}")).isEqualTo(NextStep.Plain.FREE_MEMORY);
    }

    @Test
    void aCommandIsWholeOrNone() {
        assertThat(command("a\\nb\u202ec")).isEqualTo(new NextStep.RunCommand(Purpose.INSTALL, "a bc"));
        String most = "x".repeat(InboundFrames.MAX_WORDS);
        assertThat(command(most)).isEqualTo(new NextStep.RunCommand(Purpose.INSTALL, most));
        assertThat(command(most + "x")).isNull();
    }

    @Test
    void onlyWhatMayBeAHostIsOne() {
        String odd = "a b\",\"\",\"é.example\",7,[],\"" + "x".repeat(262);
        assertThat(hint("{\"kind\":\"allow_hosts\",\"hosts\":[\"pypi.example:8443\",\"" + odd + "\"]}"))
                .isEqualTo(new NextStep.AllowHosts(List.of("pypi.example:8443", "7")));
        String many = "\"a\",".repeat(Hints.MAX_HOSTS + 1) + "\"b\"";
        assertThat(hint("{\"kind\":\"allow_hosts\",\"hosts\":[" + many + "]}"))
                .isEqualTo(new NextStep.AllowHosts(List.of("a", "a", "a", "a", "a", "a", "a", "a")));
        assertThat(hint("{\"kind\":\"allow_hosts\",\"hosts\":\"a\"}")).isEqualTo(new NextStep.AllowHosts(List.of()));
    }
}
