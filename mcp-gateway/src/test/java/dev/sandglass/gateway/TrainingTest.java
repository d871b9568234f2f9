package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.training.Training;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The calls that the image's build makes, so that a change of an answer shows here and not only there. */
@Tag("slow")
class TrainingTest {

    private static final String SECRET = "0123456789abcdef0123456789abcdef\n";

    @Test
    void everyCallIsAnsweredAsExpectedAndTheGatewayEndsWhenItIsTold() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command =
                List.of(java, "-cp", System.getProperty("java.class.path"), GatewayApplication.class.getName());
        assertThatCode(() -> Training.run(command, 2)).doesNotThrowAnyException();
    }

    @Test
    void withoutAClusterItFails(@TempDir Path folder) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), SECRET);
        try (ConfigurableApplicationContext app = WholeGateway.start(
                WholeGateway.NO_CLUSTER,
                "--server.port=0",
                "--management.server.port=0",
                "--gateway.unauthenticated=true",
                "--gateway.link.secret-file=" + secret)) {
            assertThatThrownBy(() -> Training.call(port(app), 1))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("sandbox_stop");
        }
    }

    private static int port(ConfigurableApplicationContext app) {
        return app.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }
}
