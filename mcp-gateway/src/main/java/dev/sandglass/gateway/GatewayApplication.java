package dev.sandglass.gateway;

import dev.sandglass.gateway.training.Training;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;

/** The MCP gateway: from an agent's tool call to the code in a sandbox. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(GatewaySettings.class)
public class GatewayApplication {

    /** Starts the gateway; it runs until the process is told to end. */
    public static void main(String[] args) {
        var application = new SpringApplication(GatewayApplication.class);
        application.addListeners(new TrustedAuthorities());
        ConfigurableApplicationContext running = application.run(args);
        if (running.getEnvironment().containsProperty("gateway.training")) {
            // Whether it succeeds or throws, the process ends with it.
            try (running) {
                Training.run(
                        running.getEnvironment().getRequiredProperty("local.server.port", Integer.class),
                        Training.ROUNDS);
            }
        }
    }
}
