package dev.sandglass.egress.training;

import static org.assertj.core.api.Assertions.assertThatCode;

import dev.sandglass.egress.EgressMain;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the image's build does with the proxy, so that a failure shows here and not only there. */
@Tag("slow")
class TrainingTest {

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void theProxyOpensTunnelsRefusesOthersAndEndsWhenItIsTold() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String[] command = {java, "-cp", System.getProperty("java.class.path"), EgressMain.class.getName()};
        assertThatCode(() -> Training.main(command)).doesNotThrowAnyException();
    }
}
