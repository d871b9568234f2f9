package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EndedSessionsTest {

    @Test
    void theNewestAreRememberedAndNoMore() {
        var ended = new EndedSessions();
        for (int session = 0; session < EndedSessions.MOST; session++) {
            ended.add("s" + session);
        }
        assertThat(ended.has("s0")).isTrue();

        ended.add("one more");

        assertThat(ended.has("s0")).isFalse();
        assertThat(ended.has("s1")).isTrue();
        assertThat(ended.has("one more")).isTrue();
    }
}
