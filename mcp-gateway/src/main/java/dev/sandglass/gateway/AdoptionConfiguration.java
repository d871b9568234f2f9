package dev.sandglass.gateway;

import dev.sandglass.gateway.adoption.Adoption;
import dev.sandglass.gateway.adoption.Candidates;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.kubernetes.KubernetesSandboxes;
import dev.sandglass.gateway.kubernetes.SharedToolServers;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Builds the room {@code adoption}. */
@Configuration(proxyBeanMethods = false)
class AdoptionConfiguration {

    @Bean(destroyMethod = "close")
    Adoption adoption(
            GatewaySettings settings,
            KubernetesSandboxes sandboxes,
            SharedToolServers servers,
            Executions executions,
            MeterRegistry meters) {
        return new Adoption(settings.instance(), new FromCluster(sandboxes, servers), executions::adopt, meters);
    }

    @Bean
    MeterBinder keptLinkMeters(Executions executions) {
        return meters -> Gauge.builder("sandglass.links.kept", executions, Executions::keptLinks)
                .description("Connections to sandboxes that are kept for executions which no call follows")
                .register(meters);
    }

    /** What the cluster tells of sandboxes and servers. */
    private record FromCluster(KubernetesSandboxes sandboxes, SharedToolServers servers) implements Candidates {
        @Override
        public boolean isKnown() {
            return sandboxes.isSynced() && servers.isSynced();
        }

        @Override
        public List<RunningSandbox> running() {
            return sandboxes.running();
        }

        @Override
        public boolean mayCall(RunningSandbox sandbox) {
            return servers.asker(sandbox.uid())
                    .filter(asker -> !servers.usable(asker).isEmpty())
                    .isPresent();
        }

        @Override
        public Mono<Boolean> mayBeBusy(RunningSandbox sandbox) {
            return sandboxes.mayBeBusy(sandbox);
        }
    }
}
