package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.EgressSecret;

/**
 * The egress proxy as one sandbox is told of it.
 *
 * @param address IP address of the proxy's Service: sandboxes can resolve no name
 * @param url of the proxy, with the sandbox's credential
 */
public record ProxyAccess(String address, String url) {

    /** That of a sandbox. */
    public static ProxyAccess of(Sandbox sandbox, String address, EgressSecret secret) {
        String uid = sandbox.getMetadata().getUid();
        String host = address.indexOf(':') < 0 ? address : "[" + address + "]";
        return new ProxyAccess(
                address, "http://" + uid + ":" + secret.passwordOf(uid) + "@" + host + ":" + SandboxLabels.EGRESS_PORT);
    }

    /** Without the credential. */
    @Override
    public String toString() {
        return "ProxyAccess[address=" + address + "]";
    }
}
