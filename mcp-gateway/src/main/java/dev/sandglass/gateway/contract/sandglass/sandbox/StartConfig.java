package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.Variables;
import dev.sandglass.gateway.contract.config.ConfigFields;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the {@code config} of {@code sandbox_start} (contracts.md M6 to M12). */
final class StartConfig {

    private static final Set<String> KNOWN = Set.of(
            "image",
            "memory",
            "cpus",
            "disk",
            "envs",
            "volumes",
            "workspace",
            "ports",
            "allowed_domains",
            "idle_timeout",
            "max_lifetime",
            "retention",
            "runtime_class");

    /** Settings of other systems that a caller may expect here (contracts.md M12), and what to do instead. */
    private static final Map<String, String> FOREIGN = Map.of(
            "workdir", "give 'cwd' to sandbox_run_command, or change the folder in the code",
            "shell",
                    "sandbox_run_command gives a command line to bash, or to sh in an image without it; for another shell name it in 'command'",
            "scripts", "write them with sandbox_write_file and run them with sandbox_run_command",
            "exec", "run it with sandbox_run_command after the start",
            "depends_on", "call sandbox_start for the other sandbox first");

    private StartConfig() {}

    static Schema schema() {
        return Schema.object()
                .with("description", "What is left out stays as it is; a new sandbox has the installation's defaults")
                .optional("image", Schema.text("E.g. 'microsandbox/python'"))
                .optional("memory", Schema.either("MiB, or '1Gi'; default 512", "integer", "string"))
                .optional("cpus", Schema.either("E.g. 2, 0.5 or '500m'; default 1", "number", "string"))
                .optional("disk", Schema.either("MiB, or '4Gi'; default 2 GiB", "integer", "string"))
                .optional("envs", Variables.schema("Environment variables"))
                .optional("volumes", StartVolumes.volumesSchema())
                .optional("workspace", StartVolumes.workspaceSchema())
                .optional(
                        "idle_timeout",
                        duration("'30m' or seconds: unused for so long it is suspended; the next call resumes it,"
                                + " variables are lost"))
                .optional("max_lifetime", duration("Suspended at this age, even while code runs"))
                .optional("retention", duration("Deleted when stopped for so long"))
                .optional("runtime_class", Schema.text("E.g. 'gvisor'"))
                .optional("ports", ports())
                .optional("allowed_domains", AllowedDomains.schema())
                .with("additionalProperties", false);
    }

    private static Schema ports() {
        return Schema.list(
                "Ports (%d to %d) on which code serves HTTP or WebSocket, listening on 0.0.0.0; the answer has their URLs"
                        .formatted(SandboxPort.MIN, SandboxPort.MAX),
                Schema.ofType("integer"));
    }

    static SandboxConfig read(Arguments arguments) {
        Optional<Arguments> given = config(arguments);
        if (given.isEmpty()) {
            return SandboxConfig.UNCHANGED;
        }
        Arguments config = given.get();
        return new SandboxConfig(
                ConfigFields.image(config).orElse(null),
                config.quantity("memory", "Mi").orElse(null),
                config.quantity("cpus", "").orElse(null),
                config.quantity("disk", "Mi").orElse(null),
                config.variables("envs").orElse(null),
                StartVolumes.volumes(config).orElse(null),
                StartVolumes.workspace(config).orElse(null),
                ConfigFields.runtimeClass(config).orElse(null),
                config.timeLimit("idle_timeout", TimeLimit.IDLE_TIMEOUT).orElse(null),
                config.timeLimit("max_lifetime", TimeLimit.MAX_LIFETIME).orElse(null),
                config.timeLimit("retention", TimeLimit.RETENTION).orElse(null),
                config.ports("ports").orElse(null),
                ConfigFields.allowedDomains(config).orElse(null));
    }

    private static Schema duration(String description) {
        return Schema.either(description, "string", "integer");
    }

    /** Whether somebody expects a port of a host to be opened; after {@link #read}. */
    static boolean namesHosts(Arguments arguments) {
        return config(arguments).filter(config -> config.namesHosts("ports")).isPresent();
    }

    private static Optional<Arguments> config(Arguments arguments) {
        return arguments.object("config", KNOWN, FOREIGN);
    }
}
