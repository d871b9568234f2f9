package dev.sandglass.gateway;

import io.fabric8.kubernetes.client.Config;
import java.util.Map;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole application before the API server that a test names, whatever the caller's environment says. */
final class WholeGateway {

    /** Where no API server is. */
    static final String NO_CLUSTER = "http://127.0.0.1:1";

    private WholeGateway() {}

    static ConfigurableApplicationContext start(String apiServer, String... arguments) {
        return start(new SpringApplicationBuilder(GatewayApplication.class), apiServer, arguments);
    }

    /** Starts one of which a test has something in its own hands. */
    static ConfigurableApplicationContext start(
            SpringApplicationBuilder application, String apiServer, String... arguments) {
        Map<String, String> properties = Map.of(
                Config.KUBERNETES_MASTER_SYSTEM_PROPERTY, apiServer,
                Config.KUBERNETES_AUTH_TRYKUBECONFIG_SYSTEM_PROPERTY, "false",
                Config.KUBERNETES_AUTH_TRYSERVICEACCOUNT_SYSTEM_PROPERTY, "false",
                Config.KUBERNETES_NO_PROXY, "127.0.0.1");
        // Read while the client is made, and nobody else's in this process afterwards.
        properties.forEach(System::setProperty);
        try {
            return application.run(arguments);
        } finally {
            properties.keySet().forEach(System::clearProperty);
        }
    }
}
