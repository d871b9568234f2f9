package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/**
 * A {@code /workspace} that outlives the pod: a PersistentVolumeClaim that the operator makes.
 *
 * @param size can grow, if the storage class lets it
 * @param storageClassName null for the cluster's default class
 * @param keep null or false: the claim is deleted with the sandbox
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(value = VolumeSchemaRules.GROWING, message = VolumeSchemaRules.SHRUNK)
@ValidationRule(value = VolumeSchemaRules.SAME_CLASS, message = VolumeSchemaRules.CLASS_CHANGED)
public record Workspace(
        @Required
        @ValidationRule(value = VolumeSchemaRules.WORKSPACE_BOUNDS, message = VolumeSchemaRules.WORKSPACE_OUT_OF_BOUNDS)
        @JsonPropertyDescription("Size of the claim, 64Mi to 10Ti. It can grow, if the storage class allows that; this"
                + " applies at once. It cannot shrink.")
        Quantity size,

        @Pattern(VolumeRules.OBJECT_PATTERN)
        @Size(min = 1, max = VolumeRules.MAX_OBJECT_LENGTH)
        @JsonPropertyDescription("Storage class of the claim; absent: the cluster's default. It cannot change, and a"
                + " claim that is there in another class is told (VolumeMissing).")
        @Nullable
        String storageClassName,

        @JsonPropertyDescription("True: the claim outlives the deletion of the sandbox, and the next sandbox of this"
                + " name that has a workspace takes it again, whatever that one says here, unless it names another"
                + " storage class (VolumeMissing); then only deleting the claim itself ends it. False, or absent: it"
                + " is deleted with the sandbox. An edit applies when the operator has seen it, and a kept claim has"
                + " no ownerReferences then; until then it is deleted with the sandbox.")
        @Nullable
        Boolean keep) {

    /** One of a size that is written as Kubernetes writes quantities. */
    public static Workspace of(String size, @Nullable String storageClassName, @Nullable Boolean keep) {
        return new Workspace(new Quantity(size), storageClassName, keep);
    }

    /** Whether the claim outlives the sandbox. */
    public boolean outlivesSandbox() {
        return Boolean.TRUE.equals(keep);
    }
}
