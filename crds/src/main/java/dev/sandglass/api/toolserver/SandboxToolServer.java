package dev.sandglass.api.toolserver;

import dev.sandglass.api.Sandbox;
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
 * An MCP server that the sandboxes of a namespace share: how it is started or reached ({@link SandboxToolServerSpec}) and
 * its state ({@link SandboxToolServerStatus}). It runs in the pod of a {@link Sandbox} that the operator makes for it, the
 * child.
 */
@Group(Sandbox.GROUP)
@Version(Sandbox.VERSION)
@Kind("SandboxToolServer")
@Singular("sandboxtoolserver")
@Plural("sandboxtoolservers")
@ShortNames("sbxts")
@ValidationRule(value = ToolServerSchemaRules.NAME, message = ToolServerSchemaRules.NAME_WRONG)
@AdditionalPrinterColumn(name = "Ready", jsonPath = ".status.conditions[?(@.type==\"Ready\")].status")
@AdditionalPrinterColumn(name = "Reason", jsonPath = ".status.conditions[?(@.type==\"Ready\")].reason")
@AdditionalPrinterColumn(name = "Tools", jsonPath = ".status.toolCount", type = AdditionalPrinterColumn.Type.INTEGER)
@AdditionalPrinterColumn(name = "Command", jsonPath = ".spec.stdio.command")
@AdditionalPrinterColumn(
        name = "Age",
        jsonPath = ".metadata.creationTimestamp",
        type = AdditionalPrinterColumn.Type.DATE)
@AdditionalPrinterColumn(name = "URL", jsonPath = ".spec.http.url", priority = 1)
@AdditionalPrinterColumn(name = "Sandbox", jsonPath = ".status.sandboxName", priority = 1)
@AdditionalPrinterColumn(name = "Message", jsonPath = ".status.conditions[?(@.type==\"Ready\")].message", priority = 1)
public class SandboxToolServer extends CustomResource<SandboxToolServerSpec, SandboxToolServerStatus>
        implements Namespaced {

    /** What follows the name of a tool server in the name of its child. */
    public static final String CHILD_SUFFIX = "-mcp";

    /** Longest name, so that the child's name is one of a Sandbox. */
    public static final int MAX_NAME = 63 - CHILD_SUFFIX.length();

    /** Name of the Sandbox that runs the tool server of that name. */
    public static String childName(String name) {
        return name + CHILD_SUFFIX;
    }

    /** The status, or {@link SandboxToolServerStatus#UNSEEN} if the operator has not written one. */
    public SandboxToolServerStatus observed() {
        return Optional.ofNullable(getStatus()).orElse(SandboxToolServerStatus.UNSEEN);
    }
}
