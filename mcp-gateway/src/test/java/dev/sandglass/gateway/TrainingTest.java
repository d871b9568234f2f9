package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.training.StandInSupervisor;
import dev.sandglass.gateway.training.Training;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The calls that the image's build makes, so that a change of an answer shows here and not only there. */
class TrainingTest {

    private static final String SECRET = "0123456789abcdef0123456789abcdef\n";

    @Test
    void everyCallIsAnsweredAsExpected(@TempDir Path folder) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), SECRET);
        try (var supervisor = new StandInSupervisor(LinkSecret.read(secret));
                ConfigurableApplicationContext app = start(secret, "--gateway.training=" + supervisor.port())) {
            assertThatCode(() -> Training.run(port(app), 2)).doesNotThrowAnyException();
        }
    }

    @Test
    void withoutTheStandInItFails(@TempDir Path folder) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), SECRET);
        try (ConfigurableApplicationContext app = start(secret)) {
            assertThatThrownBy(() -> Training.run(port(app), 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("sandbox_start");
        }
    }

    private static ConfigurableApplicationContext start(Path secret, String... more) {
        String[] always = {
            "--server.port=0",
            "--management.server.port=0",
            "--gateway.unauthenticated=true",
            "--gateway.link.secret-file=" + secret
        };
        return WholeGateway.start(
                WholeGateway.NO_CLUSTER,
                Stream.concat(Stream.of(always), Stream.of(more)).toArray(String[]::new));
    }

    private static int port(ConfigurableApplicationContext app) {
        return app.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }
}
