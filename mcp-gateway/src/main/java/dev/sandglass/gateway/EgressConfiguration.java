package dev.sandglass.gateway;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.gateway.egress.DenialStreams;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.kubernetes.ServiceReplicas;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.resources.LoopResources;

/** Builds the room {@code egress}; without an egress proxy it stays empty, and no host is ever refused. */
@Configuration(proxyBeanMethods = false)
class EgressConfiguration {

    @Bean
    DeniedHosts deniedHosts() {
        return new DeniedHosts();
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnProperty("gateway.egress.service")
    DenialStreams denialStreams(GatewaySettings settings, DeniedHosts hosts, LoopResources loops) throws IOException {
        Path secret = Objects.requireNonNull(settings.egress().secretFile(), "secretFile is null");
        return new DenialStreams(
                hosts,
                loops,
                settings.egress().denialsPort(),
                EgressSecret.read(secret).denialsToken());
    }

    @Bean(initMethod = "start", destroyMethod = "close")
    @ConditionalOnProperty("gateway.egress.service")
    ServiceReplicas egressReplicas(GatewaySettings settings, KubernetesClient client, DenialStreams streams) {
        return new ServiceReplicas(
                client,
                Objects.requireNonNull(settings.namespace(), "namespace is null"),
                Objects.requireNonNull(settings.egress().service(), "service is null"),
                settings.instance(),
                streams::follow);
    }
}
