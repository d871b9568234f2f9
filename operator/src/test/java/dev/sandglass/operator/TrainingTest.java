package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class TrainingTest {

    /** The whole operator starts one sandbox against the stand-in, as it does when the image is built. */
    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void trainingEndsByItself() {
        assertThatCode(() -> OperatorMain.main(new String[] {"--train"})).doesNotThrowAnyException();
    }
}
