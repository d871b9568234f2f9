package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * Files from outside that a sandbox sees, or scratch room apart from its workspace. Exactly one of the last four
 * components is given; a path of the node cannot be written at all. The rules are those of {@link VolumeRules}.
 *
 * @param name unique in the sandbox
 * @param mountPath where the code sees it
 * @param readOnly null for the default, see {@link #onlyReads}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(value = VolumeSchemaRules.ONE_SOURCE, message = VolumeSchemaRules.NOT_ONE_SOURCE)
@ValidationRule(value = VolumeSchemaRules.WRITABLE, message = VolumeSchemaRules.NOT_WRITABLE)
@ValidationRule(value = VolumeSchemaRules.NOT_EMPTY_FOR_EVER, message = VolumeSchemaRules.ALWAYS_EMPTY)
public record Volume(
        @Required
        @Pattern(VolumeRules.NAME_PATTERN)
        @Size(min = 1, max = VolumeRules.MAX_NAME_LENGTH)
        @JsonPropertyDescription(
                "Name of the volume, unique in the sandbox: at most 40 lower-case letters, digits and" + " hyphens.")
        String name,

        @Required
        @Pattern(VolumeRules.PATH_PATTERN)
        @Size(min = 2, max = VolumeRules.MAX_PATH_LENGTH)
        @ValidationRule(value = VolumeSchemaRules.PATH_FREE, message = VolumeSchemaRules.PATH_TAKEN)
        @JsonPropertyDescription(
                "Absolute path at which the code sees the files, such as /data: letters, digits and ._@+-"
                        + " only, without '.', '..' and a slash at the end. Use spec.workspace for /workspace."
                        + " These folders and everything below them are reserved: /app (which leads to /workspace),"
                        + " /bin, /boot, /dev, /etc, /lib,"
                        + " /opt, /proc, /root, /run, /sbin, /sys, /tmp, /usr, /var. No mountPath may lie below"
                        + " another one.")
        String mountPath,

        @JsonPropertyDescription("true: the code can read the files but not write them. Default: true, but false for"
                + " emptyDir. A configMap and a secret cannot be false.")
        @Nullable
        Boolean readOnly,

        @JsonPropertyDescription("A PersistentVolumeClaim of the same namespace. It must exist when the pod starts.")
        @Nullable
        Claim persistentVolumeClaim,

        @JsonPropertyDescription(
                "A ConfigMap of the same namespace with the label sandglass.dev/mountable: \"true\". It"
                        + " must exist when the pod starts. Each key becomes a file.")
        @Nullable
        ConfigMap configMap,

        @JsonPropertyDescription(
                "A Secret of the same namespace whose name begins with mountable-. It must exist when the"
                        + " pod starts. Each key becomes a file that the code can read: put nothing in it that the"
                        + " code must not know.")
        @Nullable
        Secret secret,

        @JsonPropertyDescription("Scratch space that lives as long as the pod.") @Nullable
        EmptyDir emptyDir) {

    /**
     * A PersistentVolumeClaim.
     *
     * @param claimName its name
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Claim(
            @Required
            @Pattern(VolumeRules.OBJECT_PATTERN)
            @Size(min = 1, max = VolumeRules.MAX_OBJECT_LENGTH)
            @JsonPropertyDescription("Name of the PersistentVolumeClaim.")
            String claimName) {}

    /**
     * A ConfigMap with the label {@link SandboxLabels#MOUNTABLE}.
     *
     * @param name its name
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record ConfigMap(
            @Required
            @Pattern(VolumeRules.OBJECT_PATTERN)
            @Size(min = 1, max = VolumeRules.MAX_OBJECT_LENGTH)
            @JsonPropertyDescription("Name of the ConfigMap.")
            String name) {}

    /**
     * A Secret that its name opens, see {@link VolumeRules#SECRET_PREFIX}.
     *
     * @param secretName its name
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Secret(
            @Required
            @Pattern(VolumeRules.OBJECT_PATTERN)
            @Size(min = 1, max = VolumeRules.MAX_OBJECT_LENGTH)
            @ValidationRule(value = VolumeSchemaRules.SECRET_OPEN, message = VolumeSchemaRules.SECRET_CLOSED)
            @JsonPropertyDescription("Name of the Secret; it must begin with mountable-.")
            String secretName) {}

    /**
     * Scratch room.
     *
     * @param sizeLimit Kubernetes quantity, at most the sandbox's disk; null for the disk
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    public record EmptyDir(
            @Pattern(VolumeRules.SIZE_PATTERN)
            @Size(min = 1, max = VolumeRules.MAX_SIZE_LENGTH)
            @JsonPropertyDescription("Size limit, such as 512Mi; at most spec.disk. Default: spec.disk.")
            @Nullable
            String sizeLimit) {}

    /** A claim, as most callers want one. */
    public static Volume ofClaim(String name, String mountPath, boolean readOnly, String claimName) {
        return new Volume(name, mountPath, readOnly, new Claim(claimName), null, null, null);
    }

    /** Whether the code can only read it: what is not said is the careful choice, and of scratch room the useful one. */
    public boolean onlyReads() {
        return readOnly == null ? emptyDir == null : readOnly;
    }
}
