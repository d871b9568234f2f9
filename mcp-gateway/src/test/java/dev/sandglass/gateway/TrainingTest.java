package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.training.Training;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The calls that the image's build makes, so that a change of an answer shows here and not only there. */
class TrainingTest {

    @Test
    void everyCallIsAnsweredAsExpected(@TempDir Path folder) throws IOException {
        try (ConfigurableApplicationContext app = start(folder, true)) {
            assertThatCode(() -> Training.run(port(app), 2)).doesNotThrowAnyException();
        }
    }

    @Test
    void withoutTheStandInItFails(@TempDir Path folder) throws IOException {
        try (ConfigurableApplicationContext app = start(folder, false)) {
            assertThatThrownBy(() -> Training.run(port(app), 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("sandbox_start");
        }
    }

    private static ConfigurableApplicationContext start(Path folder, boolean training) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef\n");
        return WholeGateway.start(
                WholeGateway.NO_CLUSTER,
                "--server.port=0",
                "--management.server.port=0",
                "--gateway.unauthenticated=true",
                "--gateway.training=" + training,
                "--gateway.link.secret-file=" + secret);
    }

    private static int port(ConfigurableApplicationContext app) {
        return app.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }
}
