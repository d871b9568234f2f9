package dev.sandglass.operator.child;

import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What Java virtual machines in a sandbox are told: one variable, for everybody who has something to tell them. */
final class JavaOptions {

    private JavaOptions() {}

    /** The variable, or nothing if there is nothing to say. */
    static List<EnvVar> of(PodSettings settings, Optional<ProxyAccess> proxy) {
        List<String> options = new ArrayList<>(SandboxTrust.javaOptions(settings));
        proxy.ifPresent(access -> options.addAll(ProxyVariables.javaOptions(access)));
        return options.isEmpty()
                ? List.of()
                : List.of(new EnvVarBuilder()
                        .withName("JAVA_TOOL_OPTIONS")
                        .withValue(String.join(" ", options))
                        .build());
    }
}
