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
        @JsonPropertyDescription(
                "Size of the claim, from 64Mi to 10Ti, such as 5Gi. You can raise it if the storage class"
                        + " allows growing, which applies at once. You cannot lower it.")
        Quantity size,

        @Pattern(VolumeRules.OBJECT_PATTERN)
        @Size(min = 1, max = VolumeRules.MAX_OBJECT_LENGTH)
        @JsonPropertyDescription("Storage class of the claim. Default: the cluster's. It cannot change; if a claim of"
                + " another class exists already, the sandbox does not start and Ready reports"
                + " VolumeMissing.")
        @Nullable
        String storageClassName,

        @JsonPropertyDescription("true: the claim outlives the sandbox. The next sandbox of the same name that has a"
                + " workspace uses it again, whatever its own keep says, unless it names another storage"
                + " class (VolumeMissing); only deleting the claim itself removes the files. false: the"
                + " operator deletes the claim with the sandbox. Default: false. An edit applies when the"
                + " operator has processed it: it removes the claim's ownerReferences for true. Until then"
                + " a deletion of the sandbox deletes the claim.")
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
