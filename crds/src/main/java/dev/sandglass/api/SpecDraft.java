package dev.sandglass.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A spec of which one field is about to change: Java's records know no other way of copying. */
final class SpecDraft {

    private final SandboxSpec origin;
    boolean suspended;

    @Nullable
    List<Volume> volumes;

    @Nullable
    Workspace workspace;

    @Nullable
    List<SandboxPort> ports;

    @Nullable
    List<String> allowedDomains;

    @Nullable
    String runtimeClassName;

    @Nullable
    String idleTimeout;

    @Nullable
    String maxLifetime;

    @Nullable
    String retention;

    SpecDraft(SandboxSpec origin) {
        this.origin = origin;
        this.suspended = origin.suspended();
        this.volumes = origin.volumes();
        this.workspace = origin.workspace();
        this.ports = origin.ports();
        this.allowedDomains = origin.allowedDomains();
        this.runtimeClassName = origin.runtimeClassName();
        this.idleTimeout = origin.idleTimeout();
        this.maxLifetime = origin.maxLifetime();
        this.retention = origin.retention();
    }

    SandboxSpec spec() {
        return new SandboxSpec(
                origin.image(),
                origin.memory(),
                origin.cpus(),
                origin.disk(),
                origin.env(),
                volumes,
                workspace,
                ports,
                allowedDomains,
                runtimeClassName,
                idleTimeout,
                maxLifetime,
                retention,
                suspended);
    }
}
