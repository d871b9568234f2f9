package dev.sandglass.gateway;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether the installation lets starts make any tenants: 0 is none, like no value. */
final class OnTenantsOnDemand implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        @Nullable
        Integer most = Binder.get(context.getEnvironment())
                .bind("gateway.tenants-on-demand", Integer.class)
                .orElse(null);
        return most != null && most > 0;
    }
}
