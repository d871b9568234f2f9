package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExecutionIdTest {

    private static final String NUMBER = "abcdefghij234567";
    private static final String UID = "623cc807-40be-4274-9d29-4bceda2f17a2";

    @Test
    void textFormIsReadBack() {
        ExecutionId id = ExecutionId.random("team_A-1", UID, 7);
        assertThat(ExecutionId.parse(id.toString())).contains(id);
    }

    @Test
    void longestFormIsReadBackAndOneMoreIsNot() {
        ExecutionId longest = new ExecutionId("t".repeat(63), "u".repeat(36), Integer.MAX_VALUE, NUMBER);
        assertThat(longest.toString()).hasSize(ExecutionId.MAX_LENGTH);
        assertThat(ExecutionId.parse(longest.toString())).contains(longest);
        assertThat(ExecutionId.parse("t" + longest)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "...",
                "default",
                "default.uid.1",
                "default.uid.0." + NUMBER,
                "default.uid.01." + NUMBER,
                "default.uid.-1." + NUMBER,
                "default.uid.2147483648." + NUMBER,
                "default.uid.9999999999." + NUMBER,
                "default.uid.1." + NUMBER + "a",
                "default.uid.1.abcdefghij23456",
                "default.uid.1.ABCDEFGHIJ234567",
                "default.uid.1.abcdefghij234560",
                "default.UID.1." + NUMBER,
                "default.u|d.1." + NUMBER,
                "_default.uid.1." + NUMBER,
                "-default.uid.1." + NUMBER,
                "défaut.uid.1." + NUMBER,
                "default.uid.1." + NUMBER + "\n",
                " default.uid.1." + NUMBER,
                "default.uid.١." + NUMBER,
            })
    void whatIsNoIdIsNotRead(String text) {
        assertThat(ExecutionId.parse(text)).isEmpty();
    }

    @Test
    void partsOutsideTheGrammarAreRefused() {
        assertThatThrownBy(() -> new ExecutionId("a.b", UID, 1, NUMBER)).hasMessageContaining("tenant");
        assertThatThrownBy(() -> new ExecutionId("t", "u.v", 1, NUMBER)).hasMessageContaining("uid");
        assertThatThrownBy(() -> new ExecutionId("t", UID, 0, NUMBER)).hasMessageContaining("from 1");
        assertThatThrownBy(() -> new ExecutionId("t", UID, 1, "short")).hasMessageContaining("number");
    }

    @Test
    void randomOnesDiffer() {
        Set<String> numbers = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            numbers.add(ExecutionId.random("t", UID, 1).number());
        }
        assertThat(numbers).hasSize(10_000);
    }

    @Test
    void anyTextIsReadBackAsItIsOrNotAtAll() {
        Random random = new Random(1);
        String alphabet = "ab2.-_1 \u0000é";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder("t.u.1.").append(NUMBER);
            text.setCharAt(random.nextInt(text.length()), alphabet.charAt(random.nextInt(alphabet.length())));
            ExecutionId.parse(text.toString()).ifPresent(id -> assertThat(id).hasToString(text.toString()));
        }
    }
}
