package dev.sandglass.operator.pool;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.settings.PodSettings;
import java.util.Optional;

/** Why the installation takes no seat of a pool: what it would say of a sandbox with the same spec. Pure. */
final class PoolRefusal {

    private PoolRefusal() {}

    static Optional<PodRefusal> of(SandboxPool pool, PodSettings settings) {
        PoolTemplate template = pool.wanted().template();
        Sandbox same = new Sandbox();
        same.getMetadata().setName(pool.getMetadata().getName());
        same.getMetadata().setNamespace(pool.getMetadata().getNamespace());
        same.setSpec(new SandboxSpec(template.image(), template.memory(), template.cpus(), template.disk(), null, false)
                .withRuntimeClassName(template.runtimeClassName()));
        return PodRefusal.of(same, settings)
                .map(why -> new PodRefusal(why.reason(), why.message().replaceFirst("^spec[.]", "spec.template.")));
    }
}
