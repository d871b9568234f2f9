package dev.sandglass.gateway;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/** The MCP gateway: from an agent's tool call to the code in a sandbox. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableConfigurationProperties(GatewaySettings.class)
public class GatewayApplication {

    /** Starts the gateway; it runs until the process is told to end. */
    public static void main(String[] args) {
        var application = new SpringApplication(GatewayApplication.class);
        application.addListeners(new TrustedAuthorities());
        application.run(args);
    }
}
