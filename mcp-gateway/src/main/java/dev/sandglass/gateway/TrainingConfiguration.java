package dev.sandglass.gateway;

import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.training.StandInSandboxes;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Builds the room {@code training}: in the image's build alone, where tools see a stand-in instead of a cluster's sandboxes. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("gateway.training")
class TrainingConfiguration {

    @Bean
    @Primary
    Sandboxes standInSandboxes(GatewaySettings settings) {
        return new StandInSandboxes(settings.training());
    }
}
