package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MiddleCutTest {

    @Test
    void whatFitsStaysAsItIs() {
        assertThat(MiddleCut.of("x".repeat(100), 100)).isEqualTo("x".repeat(100));
    }

    @Test
    void theMiddleGoesAndItsLengthIsSaid() {
        String cut = MiddleCut.of("a".repeat(500) + "b".repeat(500), 250);

        assertThat(cut).isEqualTo("a".repeat(100) + "\n[... 800 characters left out ...]\n" + "b".repeat(100));
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 101, 102, 103, 999})
    void noCharacterIsCutInHalfAndTheBoundHolds(int most) {
        String cut = MiddleCut.of("😀".repeat(500), most);

        assertThat(cut.length()).isLessThanOrEqualTo(most);
        assertThat(HalfCharacters.noneIn(cut)).isTrue();
    }
}
