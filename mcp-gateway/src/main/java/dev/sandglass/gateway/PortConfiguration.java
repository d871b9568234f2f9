package dev.sandglass.gateway;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.port.PortRoute;
import dev.sandglass.gateway.sandbox.Sandboxes;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import reactor.netty.resources.LoopResources;

/** Builds the room {@code port}. */
@Configuration(proxyBeanMethods = false)
class PortConfiguration {

    @Bean
    PortAddresses portAddresses(LinkSecret secret, GatewaySettings settings) {
        return new PortAddresses(secret, settings.port(), Clock.systemUTC());
    }

    /** What the route needs of the other rooms. */
    @Bean
    PortRoute.Surroundings portSurroundings(
            Callers callers, TenantAccess access, Sandboxes sandboxes, Executions executions, LinkSecret secret) {
        return new PortRoute.Surroundings(callers, access, sandboxes, executions.sessions(), secret);
    }

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    NettyRouteProvider portRoute(
            PortRoute.Surroundings around, GatewaySettings settings, LoopResources loops, MeterRegistry meters) {
        PortRoute route = PortRoute.of(around, settings.port(), loops, meters, Clock.systemUTC());
        return route::apply;
    }
}
