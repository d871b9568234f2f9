package dev.sandglass.gateway;

import dev.sandglass.api.LinkSecret;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.training.StandInSandboxes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Builds the room {@code training}: in the image's build alone, where tools see a stand-in instead of a cluster's sandboxes. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty("gateway.training")
class TrainingConfiguration {

    @Bean(destroyMethod = "close")
    @Primary
    Sandboxes standInSandboxes(GatewaySettings settings) throws IOException {
        Path secret = Objects.requireNonNull(settings.link().secretFile(), "secretFile is null");
        return new StandInSandboxes(LinkSecret.read(secret));
    }
}
