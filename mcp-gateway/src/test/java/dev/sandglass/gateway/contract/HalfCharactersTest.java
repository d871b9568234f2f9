package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HalfCharactersTest {

    @ParameterizedTest
    @ValueSource(
            strings = {"", "a", "\u00e9\ud7ff\ue000\uffff", "\ud83d\ude00", "a\ud83d\ude00b", "\ud800\udc00\udbff\udfff"
            })
    void aWholeTextHasNone(String text) {
        assertThat(HalfCharacters.noneIn(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\ud800",
                "\udfff",
                "a\ud83d",
                "\ud83da",
                "\ude00\ud83d",
                "\ud83d\ud83d\ude00",
                "\ud83d\ude00\ude00"
            })
    void aHalfIsFoundWhereverItStands(String text) {
        assertThat(HalfCharacters.noneIn(text)).isFalse();
        assertThat(HalfCharacters.noneIn("x".repeat(1000) + text + "x".repeat(1000)))
                .isFalse();
    }

    @Test
    void everyCodePointIsWhole() {
        for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
            boolean half = Character.getType(point) == Character.SURROGATE;
            assertThat(HalfCharacters.noneIn(Character.toString(point)))
                    .as(Integer.toHexString(point))
                    .isEqualTo(!half);
        }
    }
}
