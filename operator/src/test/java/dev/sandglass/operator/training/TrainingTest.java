package dev.sandglass.operator.training;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.operator.OperatorMain;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the image's build does with the operator, so that a failure shows here and not only there. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TrainingTest {

    private static String[] java(String main) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new String[] {java, "-cp", System.getProperty("java.class.path"), main};
    }

    @Tag("slow")
    @Test
    void theOperatorStartsASandboxAndEndsWhenItIsTold() {
        assertThatCode(() -> Training.main(java(OperatorMain.class.getName()))).doesNotThrowAnyException();
    }

    @Test
    void aProgramThatEndsByItselfFailsTheBuild() {
        assertThatThrownBy(() -> Training.main(java("dev.sandglass.NoSuchProgram")))
                .hasMessage("The program ended with exit code 1");
    }
}
