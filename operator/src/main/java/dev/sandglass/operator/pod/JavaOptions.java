package dev.sandglass.operator.pod;

import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The options of Java virtual machines in a sandbox: one variable, to which several parts contribute. */
final class JavaOptions {

    private JavaOptions() {}

    /**
     * The variable, or nothing if there is nothing to say.
     *
     * @param proxy IP address of the egress proxy; empty if there is none
     */
    static List<EnvVar> of(PodSettings settings, Optional<String> proxy) {
        List<String> options = new ArrayList<>(PodTrust.javaOptions(settings));
        proxy.ifPresent(address -> options.addAll(ProxyVariables.javaOptions(address)));
        return options.isEmpty()
                ? List.of()
                : List.of(new EnvVarBuilder()
                        .withName("JAVA_TOOL_OPTIONS")
                        .withValue(String.join(" ", options))
                        .build());
    }
}
