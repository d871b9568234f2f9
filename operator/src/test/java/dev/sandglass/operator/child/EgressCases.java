package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sandboxes and installations that differ in the way out and in nothing else. */
final class EgressCases {

    private EgressCases() {}

    /**
     * A sandbox with a list.
     *
     * @param allowed null for none
     */
    static Sandbox sandbox(@Nullable List<String> allowed) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(SandboxSpec.DEFAULT.withAllowedDomains(allowed));
        return sandbox;
    }

    static PodSettings settings(Optional<Egress> egress) {
        return new PodSettings(
                new ImagePolicy("registry.example.com/kernel:1", List.of()),
                Duration.ofHours(8),
                new NamespaceAccount("sandglass-sandbox", List.of()),
                RuntimeClassPolicy.DEFAULT_ONLY,
                SandboxUsers.DEFAULT,
                Scheduling.anywhere(RequestRatios.of("0.25")),
                egress,
                Optional.empty());
    }
}
