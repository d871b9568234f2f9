package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a caller may choose for a sandbox. Null means: as the resource has it, or the installation's default for a new
 * one.
 *
 * @param image image reference or one of the aliases of contracts.md M6, already resolved
 * @param memory Kubernetes quantity
 * @param cpus Kubernetes quantity
 * @param disk Kubernetes quantity
 * @param env environment of the code; replaces what the resource has
 * @param volumes replace those of the resource
 * @param workspace only what it says changes
 * @param runtimeClass name of a RuntimeClass of the cluster
 * @param idleTimeout a duration that the resource takes, e.g. 30m
 * @param maxLifetime a duration that the resource takes
 * @param retention a duration that the resource takes
 * @param ports reachable through the gateway; replace those that the resource has
 * @param allowedDomains hosts that the code may reach; replace those that the resource has
 */
public record SandboxConfig(
        @Nullable String image,
        @Nullable String memory,
        @Nullable String cpus,
        @Nullable String disk,
        @Nullable Map<String, String> env,
        @Nullable List<Volume> volumes,
        @Nullable Workspace workspace,
        @Nullable String runtimeClass,
        @Nullable String idleTimeout,
        @Nullable String maxLifetime,
        @Nullable String retention,

        @Nullable List<SandboxPort> ports,
        @Nullable List<String> allowedDomains) {

    /** Nothing chosen: an existing sandbox starts as stored, a new one with the installation's defaults. */
    public static final SandboxConfig UNCHANGED = new SandboxConfig(null, null, null, null, null);

    /** Copies map and list, so that the record does not change under its holder. */
    public SandboxConfig {
        env = env == null ? null : Map.copyOf(env);
        volumes = volumes == null ? null : List.copyOf(volumes);
        ports = ports == null ? null : List.copyOf(ports);
        allowedDomains = allowedDomains == null ? null : List.copyOf(allowedDomains);
    }

    /** Only size and environment chosen. */
    public SandboxConfig(
            @Nullable String image,
            @Nullable String memory,
            @Nullable String cpus,
            @Nullable String disk,
            @Nullable Map<String, String> env) {
        this(image, memory, cpus, disk, env, null, null, null, null, null, null, null, null);
    }

    /** The same with another environment of the code. */
    public SandboxConfig withEnv(@Nullable Map<String, String> other) {
        return new SandboxConfig(
                image,
                memory,
                cpus,
                disk,
                other,
                volumes,
                workspace,
                runtimeClass,
                idleTimeout,
                maxLifetime,
                retention,
                ports,
                allowedDomains);
    }

    /** The same with other ports. */
    public SandboxConfig withPorts(@Nullable List<SandboxPort> others) {
        return new SandboxConfig(
                image,
                memory,
                cpus,
                disk,
                env,
                volumes,
                workspace,
                runtimeClass,
                idleTimeout,
                maxLifetime,
                retention,
                others,
                allowedDomains);
    }

    /** The same with other hosts that the code may reach. */
    public SandboxConfig withAllowedDomains(@Nullable List<String> others) {
        return new SandboxConfig(
                image,
                memory,
                cpus,
                disk,
                env,
                volumes,
                workspace,
                runtimeClass,
                idleTimeout,
                maxLifetime,
                retention,
                ports,
                others);
    }

    /** Values of variables may be private; only their number is told. */
    @Override
    public String toString() {
        return "SandboxConfig[image=%s, memory=%s, cpus=%s, disk=%s, env=%s, volumes=%s, workspace=%s"
                        .formatted(
                                image,
                                memory,
                                cpus,
                                disk,
                                env == null ? null : env.size() + " variables",
                                volumes,
                                workspace)
                + ", runtimeClass=%s, idleTimeout=%s, maxLifetime=%s, retention=%s, ports=%s, allowedDomains=%s]"
                        .formatted(runtimeClass, idleTimeout, maxLifetime, retention, ports, allowedDomains);
    }
}
