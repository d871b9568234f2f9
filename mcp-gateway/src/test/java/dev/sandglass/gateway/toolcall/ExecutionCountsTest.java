package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Counts of calls by execution, whose ids code may invent. */
class ExecutionCountsTest {

    @Test
    void eachExecutionHasItsCountOfEachServer() {
        var counts = new ExecutionCounts();
        assertThat(counts.count("a", "e", "s", 2)).isTrue();
        assertThat(counts.count("a", "e", "s", 2)).isTrue();
        assertThat(counts.count("a", "e", "s", 2)).isFalse();
        assertThat(counts.count("a", "e", "t", 2)).isTrue();
        assertThat(counts.count("a", "f", "s", 2)).isTrue();
        assertThat(counts.count("b", "e", "s", 2)).isTrue();
        assertThat(counts.count("a", "e", "s", 2)).isFalse();
    }

    @Test
    void aSandboxThatInventsIdsForgetsItsOwnAlone() {
        var counts = new ExecutionCounts();
        counts.count("b", "e", "s", 1);
        for (int i = 0; i < 100_000; i++) {
            counts.count("a", "e-" + i, "s", 1);
        }
        assertThat(counts.sizes())
                .containsEntry("a", ExecutionCounts.MOST_OF_SANDBOX)
                .containsEntry("b", 1);
        assertThat(counts.count("b", "e", "s", 1)).isFalse();
    }

    @Test
    void allTogetherAreBounded() {
        var counts = new ExecutionCounts(100);
        for (int sandbox = 0; sandbox < 50; sandbox++) {
            for (int i = 0; i < 10; i++) {
                assertThat(counts.count("box-" + sandbox, "e-" + i, "s", 1)).isTrue();
            }
        }
        assertThat(counts.size()).isEqualTo(100);
        assertThat(counts.sizes().values().stream().mapToInt(Integer::intValue).sum())
                .isEqualTo(100);
        assertThat(counts.count("box-49", "e-0", "s", 1)).isFalse();
    }
}
