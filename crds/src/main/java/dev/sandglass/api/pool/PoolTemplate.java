package dev.sandglass.api.pool;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SchemaRules;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/**
 * What the seats of a pool are like, in the fields of a {@link SandboxSpec} that shape a pod and that the claim of a seat
 * cannot change.
 *
 * @param image null for the installation's default image
 * @param memory limit of the container
 * @param cpus limit of the container
 * @param disk bound of everything the sandbox can write
 * @param runtimeClassName null for the installation's
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record PoolTemplate(
        @Size(min = 1, max = 512)
        @Pattern("^[^\\s]+$")
        @JsonPropertyDescription(
                "Container image, as spec.image of a Sandbox. Default: the installation's default image.")
        @Nullable
        String image,

        @Default(SandboxSpec.DEFAULT_MEMORY)
        @ValidationRule(value = SchemaRules.MEMORY_BOUNDS, message = SchemaRules.MEMORY_OUT_OF_BOUNDS)
        @JsonPropertyDescription("Memory limit, as spec.memory of a Sandbox. Default: 512Mi.")
        Quantity memory,

        @Default(SandboxSpec.DEFAULT_CPUS)
        @ValidationRule(value = SchemaRules.CPUS_BOUNDS, message = SchemaRules.CPUS_OUT_OF_BOUNDS)
        @JsonPropertyDescription("CPU limit in cores, as spec.cpus of a Sandbox. Default: 1.")
        Quantity cpus,

        @Default(SandboxSpec.DEFAULT_DISK)
        @ValidationRule(value = SchemaRules.DISK_BOUNDS, message = SchemaRules.DISK_OUT_OF_BOUNDS)
        @JsonPropertyDescription(
                "Limit on everything that the sandbox writes, as spec.disk of a Sandbox. Default: 2Gi.")
        Quantity disk,

        @Size(max = SandboxSpec.MAX_RUNTIME_CLASS_NAME)
        @ValidationRule(value = SchemaRules.RUNTIME_CLASS_NAME, message = SchemaRules.RUNTIME_CLASS_NAME_WRONG)
        @JsonPropertyDescription(
                "RuntimeClass, as spec.runtimeClassName of a Sandbox. Default: the installation's, or else"
                        + " the cluster's.")
        @Nullable
        String runtimeClassName) {

    /** What a sandbox is like of which nothing is said. */
    public static final PoolTemplate DEFAULT = new PoolTemplate(null, null, null, null, null);

    public PoolTemplate(
            @Nullable String image,
            @Nullable Quantity memory,
            @Nullable Quantity cpus,
            @Nullable Quantity disk,
            @Nullable String runtimeClassName) {
        this.image = image;
        this.memory = memory == null ? new Quantity(SandboxSpec.DEFAULT_MEMORY) : memory;
        this.cpus = cpus == null ? new Quantity(SandboxSpec.DEFAULT_CPUS) : cpus;
        this.disk = disk == null ? new Quantity(SandboxSpec.DEFAULT_DISK) : disk;
        this.runtimeClassName = runtimeClassName;
    }
}
