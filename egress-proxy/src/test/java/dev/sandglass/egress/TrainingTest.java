package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TrainingTest {

    /** The whole proxy opens tunnels and refuses others against the stand-in, as it does when the image is built. */
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void trainingEndsByItself() {
        assertThatCode(() -> EgressMain.main(new String[] {"--train"})).doesNotThrowAnyException();
    }
}
