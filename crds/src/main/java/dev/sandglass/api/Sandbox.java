package dev.sandglass.api;

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
 * An isolated environment in which an agent's code runs: what it must be like ({@link SandboxSpec}) and its state
 * ({@link SandboxStatus}).
 * Its pod comes and goes, counted as incarnations; the sandbox stays.
 */
@Group(Sandbox.GROUP)
@Version(Sandbox.VERSION)
@Kind("Sandbox")
@Singular("sandbox")
@Plural("sandboxes")
@ShortNames("sbx")
@ValidationRule(value = SchemaRules.NAME, message = SchemaRules.NAME_NOT_A_LABEL)
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type==\"Ready\")].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type==\"Ready\")].reason")
@AdditionalPrinterColumn(name = "Image", jsonPath = ".spec.image")
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(name = "Address", jsonPath = ".status.address", priority = 1)
@AdditionalPrinterColumn(
        name = "Incarnation",
        jsonPath = ".status.incarnation",
        type = AdditionalPrinterColumn.Type.INTEGER,
        priority = 1)
@AdditionalPrinterColumn(
        name = "Restarts",
        jsonPath = ".status.restarts",
        type = AdditionalPrinterColumn.Type.INTEGER,
        priority = 1)
@AdditionalPrinterColumn(name = "Start", jsonPath = ".status.start", priority = 1)
@AdditionalPrinterColumn(name = "Expires", jsonPath = ".status.expiresAt", priority = 1)
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.conditions[?(@.type==\"Ready\")].message", priority = 1)
public class Sandbox extends CustomResource<SandboxSpec, SandboxStatus> implements Namespaced {

    /** API group of everything that Sandglass adds to Kubernetes. */
    public static final String GROUP = "sandglass.dev";

    /** The served and stored version. */
    public static final String VERSION = "v1alpha1";

    /** The spec, or the defaults if the resource has none. */
    public SandboxSpec wanted() {
        return Optional.ofNullable(getSpec()).orElse(SandboxSpec.DEFAULT);
    }

    /** The status, or {@link SandboxStatus#UNSEEN} if the operator has not written one. */
    public SandboxStatus observed() {
        return Optional.ofNullable(getStatus()).orElse(SandboxStatus.UNSEEN);
    }
}
