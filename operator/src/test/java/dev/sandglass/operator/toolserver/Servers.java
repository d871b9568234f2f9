package dev.sandglass.operator.toolserver;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.child.ToolServerChild;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** Tool servers and their children, as the API server has them. */
public final class Servers {

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    private Servers() {}

    /** The tool server {@code time} with that spec, in YAML of one line. */
    public static SandboxToolServer server(String spec) {
        return SERIALIZATION.unmarshal("""
                apiVersion: sandglass.dev/v1alpha1
                kind: SandboxToolServer
                metadata: {name: time, namespace: tenant-a, uid: uid-time, generation: 1}
                spec: %s
                """.formatted(spec), SandboxToolServer.class);
    }

    /** One that starts a command. */
    public static SandboxToolServer stdio() {
        return server("{stdio: {command: uvx}}");
    }

    /** Its child, with that status. */
    static Sandbox child(SandboxToolServer server, SandboxStatus status) {
        Sandbox child = ToolServerChild.desired(server);
        child.getMetadata().setUid("uid-child");
        child.getMetadata().setResourceVersion("7");
        child.setStatus(status);
        return child;
    }
}
