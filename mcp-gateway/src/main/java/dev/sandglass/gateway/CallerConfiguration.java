package dev.sandglass.gateway;

import dev.sandglass.gateway.caller.ApiKeyFolder;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.NewTenants;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.caller.TrustedProxies;
import dev.sandglass.gateway.kubernetes.LabelledNamespaces;
import java.net.InetAddress;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Builds the room {@code caller}. */
@Configuration(proxyBeanMethods = false)
class CallerConfiguration {

    private static final Logger LOG = LoggerFactory.getLogger(CallerConfiguration.class);

    @Bean
    Tenants tenants(GatewaySettings settings, ObjectProvider<LabelledNamespaces> labelled) {
        Tenants named = Tenants.parse(settings.tenants());
        LabelledNamespaces others = labelled.getIfAvailable();
        return others == null ? named : named.with(others);
    }

    @Bean
    TenantAccess tenantAccess(Tenants tenants, Optional<NewTenants> news, Callers callers) {
        return new TenantAccess(tenants, news, callers::nameTenant);
    }

    /** Callers are known by their API keys. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty(name = "gateway.unauthenticated", havingValue = false, matchIfMissing = true)
    static class Authenticated {

        @Bean(destroyMethod = "close")
        ApiKeyFolder apiKeyFolder(GatewaySettings settings) {
            return ApiKeyFolder.open(Objects.requireNonNull(settings.apiKeysDir(), "apiKeysDir is null"));
        }

        @Bean
        Callers callers(ApiKeyFolder folder) {
            return folder.keys();
        }
    }

    /** The server's own reading of such headers, which believes everybody, is off in {@code application.yaml}. */
    @Bean
    NettyServerCustomizer trustedProxies(GatewaySettings settings) {
        TrustedProxies proxies = TrustedProxies.parse(settings.trustedProxies());
        return server -> proxies.heardBy(server);
    }

    /** Everybody may do everything, and therefore nobody but this machine is listened to. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBooleanProperty("gateway.unauthenticated")
    static class Unauthenticated {

        @Bean
        Callers callers() {
            LOG.warn("UNAUTHENTICATED development mode: everybody on this machine may do everything;"
                    + " listening on loopback only");
            return Callers.DEVELOPMENT;
        }

        /** Last of all customizers, so that {@code server.address} cannot widen it. */
        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        WebServerFactoryCustomizer<NettyReactiveWebServerFactory> loopbackOnly() {
            return factory -> factory.setAddress(InetAddress.getLoopbackAddress());
        }
    }
}
