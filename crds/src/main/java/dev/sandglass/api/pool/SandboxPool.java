package dev.sandglass.api.pool;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SchemaRules;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.Optional;

/**
 * A number of spare pods, the seats, that the operator keeps ready for the sandboxes of the namespace: what they must be like
 * ({@link SandboxPoolSpec}) and how many there are ({@link SandboxPoolStatus}). A sandbox whose spec a seat meets claims one
 * instead of waiting for a pod.
 */
@Group(Sandbox.GROUP)
@Version(Sandbox.VERSION)
@Kind("SandboxPool")
@Singular("sandboxpool")
@Plural("sandboxpools")
@ShortNames("sbxp")
@ValidationRule(value = SchemaRules.NAME, message = SchemaRules.NAME_NOT_A_LABEL)
@AdditionalPrinterColumn(name = "Seats", jsonPath = ".spec.replicas", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
        name = "Ready",
        jsonPath = ".status.readyReplicas",
        type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(
        name = "Updated",
        jsonPath = ".status.updatedReplicas",
        type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Image", jsonPath = ".spec.template.image")
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(
        name = "Message",
        jsonPath = ".status.conditions[?(@.type==\"Progressing\")].message",
        priority = 1)
public class SandboxPool extends CustomResource<SandboxPoolSpec, SandboxPoolStatus> implements Namespaced {

    /** The spec, or the defaults if the resource has none. */
    public SandboxPoolSpec wanted() {
        return Optional.ofNullable(getSpec()).orElse(SandboxPoolSpec.DEFAULT);
    }

    /** The status, or {@link SandboxPoolStatus#UNSEEN} if the operator has not written one. */
    public SandboxPoolStatus observed() {
        return Optional.ofNullable(getStatus()).orElse(SandboxPoolStatus.UNSEEN);
    }
}
