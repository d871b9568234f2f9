package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Durations;
import dev.sandglass.api.EnvVariable;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.api.Workspace;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The resource that a start makes, and the fields that a start changes. Pure. */
final class SandboxWrites {

    private SandboxWrites() {}

    /** A new resource. */
    static Sandbox created(SandboxRef ref, SandboxConfig config, String createdBy) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName(ref.name())
                .withNamespace(ref.namespace())
                .addToAnnotations(SandboxLabels.GIVEN_NAME, ref.givenName())
                .addToAnnotations(SandboxLabels.CREATED_BY, createdBy)
                .build());
        sandbox.setSpec(new SandboxSpec(
                        config.image(),
                        quantity(config.memory()),
                        quantity(config.cpus()),
                        quantity(config.disk()),
                        variables(config.env()),
                        false)
                .withVolumes(config.volumes())
                .withWorkspace(config.workspace())
                .withRuntimeClassName(config.runtimeClass())
                .withIdleTimeout(config.idleTimeout())
                .withMaxLifetime(config.maxLifetime())
                .withRetention(config.retention())
                .withPorts(config.ports())
                .withAllowedDomains(config.allowedDomains()));
        return sandbox;
    }

    /**
     * What of the spec has to change for a start, as the {@code spec} of a JSON merge patch (RFC 7396); empty if nothing
     * has to.
     */
    static Map<String, Object> changes(SandboxSpec present, SandboxConfig config) {
        var changes = new LinkedHashMap<String, Object>();
        if (present.suspended()) {
            changes.put("suspended", false);
        }
        if (config.image() != null && !config.image().equals(present.image())) {
            changes.put("image", config.image());
        }
        putIfOther(changes, "memory", present.memory(), config.memory());
        putIfOther(changes, "cpus", present.cpus(), config.cpus());
        putIfOther(changes, "disk", present.disk(), config.disk());
        if (config.env() != null && !config.env().equals(present.environment())) {
            changes.put("env", variables(config.env()));
        }
        if (config.runtimeClass() != null && !config.runtimeClass().equals(present.runtimeClassName())) {
            changes.put("runtimeClassName", config.runtimeClass());
        }
        putIfOther(changes, TimeLimit.IDLE_TIMEOUT, present, config.idleTimeout());
        putIfOther(changes, TimeLimit.MAX_LIFETIME, present, config.maxLifetime());
        putIfOther(changes, TimeLimit.RETENTION, present, config.retention());
        if (config.volumes() != null && !config.volumes().equals(present.volumes())) {
            changes.put("volumes", config.volumes());
        }
        if (config.workspace() != null) {
            Map<String, Object> workspace = workspace(present.workspace(), config.workspace());
            if (!workspace.isEmpty()) {
                changes.put("workspace", workspace);
            }
        }
        if (config.ports() != null && !config.ports().equals(present.ports())) {
            changes.put("ports", config.ports());
        }
        if (config.allowedDomains() != null && !config.allowedDomains().equals(present.allowedDomains())) {
            changes.put("allowedDomains", config.allowedDomains());
        }
        return changes;
    }

    /** Field by field, so that whoever asks for a size alone does not undo {@code keep}. */
    private static Map<String, Object> workspace(@Nullable Workspace present, Workspace wanted) {
        var changes = new LinkedHashMap<String, Object>();
        if (present == null || !wanted.size().equals(present.size())) {
            changes.put("size", wanted.size());
        }
        if (wanted.storageClassName() != null
                && (present == null || !wanted.storageClassName().equals(present.storageClassName()))) {
            changes.put("storageClassName", wanted.storageClassName());
        }
        if (wanted.keep() != null && (present == null || wanted.outlivesSandbox() != present.outlivesSandbox())) {
            changes.put("keep", wanted.keep());
        }
        return changes;
    }

    private static void putIfOther(
            Map<String, Object> changes, String field, Quantity present, @Nullable String wanted) {
        if (wanted != null && !present.equals(new Quantity(wanted))) {
            changes.put(field, wanted);
        }
    }

    /** 90m and 1h30m are the same. */
    private static void putIfOther(
            Map<String, Object> changes, TimeLimit limit, SandboxSpec present, @Nullable String wanted) {
        if (wanted != null && !limit.in(present).equals(Optional.of(Durations.parse(wanted)))) {
            changes.put(limit.field(), wanted);
        }
    }

    private static @Nullable Quantity quantity(@Nullable String text) {
        return text == null ? null : new Quantity(text);
    }

    /** In the order of the names, so that the same variables make the same resource. */
    private static @Nullable List<EnvVariable> variables(@Nullable Map<String, String> env) {
        return env == null
                ? null
                : new TreeMap<>(env)
                        .entrySet().stream()
                                .map(variable -> new EnvVariable(variable.getKey(), variable.getValue()))
                                .toList();
    }
}
