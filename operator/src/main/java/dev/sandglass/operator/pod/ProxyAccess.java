package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.EgressSecret;

/**
 * The egress proxy as one pod reaches it.
 *
 * @param address IP address of the proxy's Service: sandboxes can resolve no name
 * @param url of the proxy, with the credential of {@link PodSubject#id}
 */
public record ProxyAccess(String address, String url) {

    /**
     * That of one pod.
     *
     * @param id of its {@link PodSubject}
     */
    public static ProxyAccess of(String id, String address, EgressSecret secret) {
        String host = address.indexOf(':') < 0 ? address : "[" + address + "]";
        return new ProxyAccess(
                address, "http://" + id + ":" + secret.passwordOf(id) + "@" + host + ":" + SandboxLabels.EGRESS_PORT);
    }

    /** Without the credential. */
    @Override
    public String toString() {
        return "ProxyAccess[address=" + address + "]";
    }
}
