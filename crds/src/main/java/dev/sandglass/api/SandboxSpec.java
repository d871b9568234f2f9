package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.egress.EgressRules;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a sandbox must be like. Components are added, never renamed or removed; absent ones take the schema's
 * default, so that a resource written by an older program keeps its meaning.
 *
 * @param image null for the installation's default image
 * @param memory limit of the container, {@value #DEFAULT_MEMORY} if absent
 * @param cpus limit of the container, {@value #DEFAULT_CPUS} if absent
 * @param disk bound of everything the sandbox can write, {@value #DEFAULT_DISK} if absent
 * @param env reaches kernels and commands, never the supervisor's own environment
 * @param volumes files from outside, see {@link VolumeRules}
 * @param workspace null for a workspace that ends with the pod
 * @param ports reachable through the gateway, and for it alone
 * @param allowedDomains what the code may reach, see {@link EgressRules}; empty for nothing, null for the installation's
 * @param runtimeClassName null for the installation's; see {@link Reason#RUNTIME_CLASS_FORBIDDEN}
 * @param idleTimeout a duration, null for the installation's; see {@link TimeLimit#IDLE_TIMEOUT}
 * @param maxLifetime a duration, null for the installation's; see {@link TimeLimit#MAX_LIFETIME}
 * @param retention a duration, null for the installation's; see {@link TimeLimit#RETENTION}
 * @param suspended true for no pod; written by people and the gateway, never by the operator
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(value = VolumeSchemaRules.SCRATCH_FITS, message = VolumeSchemaRules.SCRATCH_UNFIT)
public record SandboxSpec(
        @Size(min = 1, max = 512)
        @Pattern("^[^\\s]+$")
        @JsonPropertyDescription("Container image of the sandbox, such as registry.example.com/team/python:1. It must"
                + " match the installation's list of allowed images. Default: the installation's default"
                + " image, which the aliases microsandbox/python and microsandbox/node also stand for. A"
                + " change applies at the next start of the pod.")
        @Nullable
        String image,

        @Default(DEFAULT_MEMORY)
        @ValidationRule(value = SchemaRules.MEMORY_BOUNDS, message = SchemaRules.MEMORY_OUT_OF_BOUNDS)
        @JsonPropertyDescription(
                "Memory limit, from 64Mi to 1Ti, such as 1Gi. Default: 512Mi. Linux kills code that uses"
                        + " more (OOMKilled). The limit also bounds processes and threads: one for each 2Mi, at"
                        + " least 128 and at most 4096. A change applies at the next start of the pod.")
        Quantity memory,

        @Default(DEFAULT_CPUS)
        @ValidationRule(value = SchemaRules.CPUS_BOUNDS, message = SchemaRules.CPUS_OUT_OF_BOUNDS)
        @JsonPropertyDescription("CPU limit in cores, from 50m to 256. Write a part of a core as 500m, or as \"0.5\" in"
                + " quotes. Default: 1. A change applies at the next start of the pod.")
        Quantity cpus,

        @Default(DEFAULT_DISK)
        @ValidationRule(value = SchemaRules.DISK_BOUNDS, message = SchemaRules.DISK_OUT_OF_BOUNDS)
        @JsonPropertyDescription(
                "Limit on everything that the sandbox writes, from 64Mi to 10Ti, such as 4Gi: it bounds"
                        + " the ephemeral storage and each scratch volume. Default: 2Gi. Kubernetes evicts a"
                        + " sandbox that exceeds it (Evicted). A change applies at the next start of the pod.")
        Quantity disk,

        @Size(max = EnvRules.MAX_ENTRIES)
        @ValidationRule(value = SchemaRules.ENV_SIZE, message = SchemaRules.ENV_SIZE_EXCEEDED)
        @JsonPropertyDescription(
                "Environment variables for the code: at most 256, and at most 32 KiB of names and values"
                        + " together. A change applies at the next start of the pod.")
        List<EnvVariable> env,

        @Size(max = VolumeRules.MAX_VOLUMES)
        @ValidationRule(value = VolumeSchemaRules.PATHS_APART, message = VolumeSchemaRules.PATHS_OVERLAP)
        @JsonPropertyDescription(
                "What to mount in the sandbox: claims, ConfigMaps, Secrets, and scratch space apart from"
                        + " the workspace; at most 16. A change applies at the next start of the pod.")
        List<Volume> volumes,

        @JsonPropertyDescription(
                "Makes /workspace a volume that survives suspend and resume. The operator keeps a sandbox"
                        + " that has one, however long it is suspended. Default: /workspace is scratch space that"
                        + " ends with the pod. Adding or removing this field applies at the next start of the pod."
                        + " After a removal the claim stays until the sandbox is deleted, and the operator keeps"
                        + " the sandbox as if the field were set.")
        @Nullable
        Workspace workspace,

        @Size(max = SandboxPort.MAX_ENTRIES)
        @ValidationRule(value = SchemaRules.PORT_NAMES, message = SchemaRules.PORT_NAMES_TWICE)
        @JsonPropertyDescription(
                "Ports on which the code serves HTTP, at most 16. The gateway makes each one reachable at"
                        + " an authenticated URL, which sandbox_start returns; nothing else can reach the port."
                        + " Default: none. A change applies at once.")
        List<SandboxPort> ports,

        // An empty list that went missing on the way would open what the installation's list opens.
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Size(max = EgressRules.MAX_ENTRIES)
        @JsonPropertyDescription(
                "Hosts that the code may reach, at most 64 entries. []: none, the sandbox has no network."
                        + " Default: the installation's list, which is empty unless the administrator sets one; a"
                        + " list given here replaces it. An entry is a name (example.com: that name alone), a"
                        + " wildcard (*.example.com: every name below example.com, by one label or more, but not"
                        + " example.com itself), an IP address or a range of addresses (192.0.2.7, 192.0.2.0/24,"
                        + " 2001:db8::/32: only for connections to the address itself, not for names that resolve"
                        + " to it), or * for everything public, if the installation permits it. Each entry but *"
                        + " takes a port (example.com:8443, [2001:db8::7]:5432); without one it opens 80 and 443."
                        + " Upper and lower case are the same. Write letters beyond ASCII as xn--. The code reaches"
                        + " names over HTTP and HTTPS through the egress proxy, and addresses over TCP as well."
                        + " Addresses that are not public stay closed unless the installation opens them. A change"
                        + " applies at once, without a restart.")
        @Nullable
        List<String> allowedDomains,

        @Size(max = MAX_RUNTIME_CLASS_NAME)
        @ValidationRule(value = SchemaRules.RUNTIME_CLASS_NAME, message = SchemaRules.RUNTIME_CLASS_NAME_WRONG)
        @JsonPropertyDescription("RuntimeClass of the pod, such as gvisor. It must exist in the cluster and match the"
                + " installation's list of allowed RuntimeClasses, which is empty unless the administrator"
                + " fills it. The operator refuses any other (RuntimeClassForbidden), also when the"
                + " installation forces a RuntimeClass. Default: the installation's, or else the cluster's."
                + " A change applies at the next start of the pod.")
        @Nullable
        String runtimeClassName,

        @Size(max = Durations.MAX_LENGTH)
        @ValidationRule(value = SchemaRules.UP_TO_A_MONTH, message = SchemaRules.IDLE_TIMEOUT_WRONG)
        @JsonPropertyDescription(
                "How long a sandbox may stay unused before the operator suspends it (Idle). A suspended"
                        + " sandbox loses memory and scratch files; the next use starts a fresh pod. The time"
                        + " counts from the last use, or from when the container runs: a sandbox that cannot start"
                        + " is not idle. A duration from 10s to 720h, such as 30m or 1h30m. Default: the"
                        + " installation's, 30m unless the administrator sets another. A change applies at once.")
        @Nullable
        String idleTimeout,

        @Size(max = Durations.MAX_LENGTH)
        @ValidationRule(value = SchemaRules.UP_TO_A_MONTH, message = SchemaRules.MAX_LIFETIME_WRONG)
        @JsonPropertyDescription("Age of the pod at which the operator suspends the sandbox (MaxLifetime), used or not,"
                + " also if the pod could not start. The next use starts a fresh pod. A duration from 10s"
                + " to 720h, such as 8h. Default: the installation's, 8h unless the administrator sets"
                + " another. A shorter one applies at once, a longer one at the next start of the pod.")
        @Nullable
        String maxLifetime,

        @Size(max = Durations.MAX_LENGTH)
        @ValidationRule(value = SchemaRules.UP_TO_A_YEAR, message = SchemaRules.RETENTION_WRONG)
        @JsonPropertyDescription("How long a sandbox may stay suspended before the operator deletes it; one with a"
                + " workspace is never deleted for this. A duration from 10s to 8760h, such as 24h."
                + " Default: the installation's, 24h unless the administrator sets another. A change"
                + " applies at once.")
        @Nullable
        String retention,

        @Default("false")
        @JsonPropertyDescription("true: the operator deletes the pod; memory and scratch files are lost, the resource"
                + " stays. false: the operator runs a pod. If it suspended the sandbox for idling or age,"
                + " it waits for the next use, or for the annotation sandglass.dev/wake with the value of"
                + " status.suspendedAt. Default: false. A change applies at once.")
        boolean suspended) {

    /** Memory limit if none is given. */
    public static final String DEFAULT_MEMORY = "512Mi";

    /** CPU limit if none is given. */
    public static final String DEFAULT_CPUS = "1";

    /** Disk bound if none is given. */
    public static final String DEFAULT_DISK = "2Gi";

    /** A sandbox as the installation makes it when nothing is asked for. */
    public static final SandboxSpec DEFAULT = new SandboxSpec(null, null, null, null, null, false);

    /** Longest name of a RuntimeClass. */
    public static final int MAX_RUNTIME_CLASS_NAME = 253;

    public SandboxSpec(
            @Nullable String image,
            @Nullable Quantity memory,
            @Nullable Quantity cpus,
            @Nullable Quantity disk,
            @Nullable List<EnvVariable> env,
            @Nullable List<Volume> volumes,
            @Nullable Workspace workspace,
            @Nullable List<SandboxPort> ports,
            @Nullable List<String> allowedDomains,
            @Nullable String runtimeClassName,
            @Nullable String idleTimeout,
            @Nullable String maxLifetime,
            @Nullable String retention,
            boolean suspended) {
        this.image = image;
        this.memory = memory == null ? new Quantity(DEFAULT_MEMORY) : memory;
        this.cpus = cpus == null ? new Quantity(DEFAULT_CPUS) : cpus;
        this.disk = disk == null ? new Quantity(DEFAULT_DISK) : disk;
        this.env = env == null ? List.of() : List.copyOf(env);
        this.volumes = volumes == null ? List.of() : List.copyOf(volumes);
        this.workspace = workspace;
        this.ports = ports == null ? List.of() : List.copyOf(ports);
        this.allowedDomains = allowedDomains == null ? null : List.copyOf(allowedDomains);
        this.runtimeClassName = runtimeClassName;
        this.idleTimeout = idleTimeout;
        this.maxLifetime = maxLifetime;
        this.retention = retention;
        this.suspended = suspended;
    }

    /** A sandbox of which no more is said than its size, its image and its environment. */
    public SandboxSpec(
            @Nullable String image,
            @Nullable Quantity memory,
            @Nullable Quantity cpus,
            @Nullable Quantity disk,
            @Nullable List<EnvVariable> env,
            boolean suspended) {
        this(image, memory, cpus, disk, env, null, null, null, null, null, null, null, null, suspended);
    }

    /** The same with {@code suspended} set. */
    public SandboxSpec withSuspended(boolean value) {
        return with(draft -> draft.suspended = value);
    }

    /** The same with other volumes; null for none. */
    public SandboxSpec withVolumes(@Nullable List<Volume> value) {
        return with(draft -> draft.volumes = value);
    }

    /** The same with another workspace; null for scratch. */
    public SandboxSpec withWorkspace(@Nullable Workspace value) {
        return with(draft -> draft.workspace = value);
    }

    /** The same with other ports; null for none. */
    public SandboxSpec withPorts(@Nullable List<SandboxPort> value) {
        return with(draft -> draft.ports = value);
    }

    /** The same with another list of what may be reached; null for the installation's. */
    public SandboxSpec withAllowedDomains(@Nullable List<String> value) {
        return with(draft -> draft.allowedDomains = value);
    }

    /** The same with a RuntimeClass. */
    public SandboxSpec withRuntimeClassName(@Nullable String value) {
        return with(draft -> draft.runtimeClassName = value);
    }

    /** The same with an idle time-out. */
    public SandboxSpec withIdleTimeout(@Nullable String value) {
        return with(draft -> draft.idleTimeout = value);
    }

    /** The same with a maximum lifetime. */
    public SandboxSpec withMaxLifetime(@Nullable String value) {
        return with(draft -> draft.maxLifetime = value);
    }

    /** The same with a retention. */
    public SandboxSpec withRetention(@Nullable String value) {
        return with(draft -> draft.retention = value);
    }

    private SandboxSpec with(Consumer<SpecDraft> change) {
        SpecDraft draft = new SpecDraft(this);
        change.accept(draft);
        return draft.spec();
    }

    /** The environment variables by name, in their order; the schema refuses duplicates, here the last one wins. */
    public Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        env.forEach(variable -> variables.put(variable.name(), variable.value()));
        return variables;
    }
}
