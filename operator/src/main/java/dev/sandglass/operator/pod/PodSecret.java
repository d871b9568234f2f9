package dev.sandglass.operator.pod;

import dev.sandglass.api.link.LinkKeys;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/** The pod's half of the link's keys, and its way to the egress proxy. Written once, never read back, and deleted with its pod. */
public final class PodSecret {

    /** Key of the supervisor's CURVE secret key, in Z85. */
    static final String LINK_SECRET_KEY = "linkSecretKey";

    /** Key of the gateway's CURVE public key, the only one that the supervisor lets in, in Z85. */
    static final String GATEWAY_PUBLIC_KEY = "gatewayPublicKey";

    /** Key of the egress proxy's URL, with the sandbox's credential. */
    static final String PROXY_URL = "proxyUrl";

    private PodSecret() {}

    /**
     * The Secret of one pod.
     *
     * @param metadata has the name that {@link PodSubject#name} says
     * @param keys those of that subject
     * @param proxy empty if the installation has no egress proxy
     */
    public static Secret desired(ObjectMeta metadata, LinkKeys keys, Optional<ProxyAccess> proxy) {
        SecretBuilder secret = new SecretBuilder()
                .withMetadata(metadata)
                .withType("sandglass.dev/link")
                .withImmutable(true)
                .addToData(LINK_SECRET_KEY, base64(keys.pod().secretZ85()))
                .addToData(GATEWAY_PUBLIC_KEY, base64(keys.gateway().publicZ85()));
        proxy.ifPresent(access -> secret.addToData(PROXY_URL, base64(access.url())));
        return secret.build();
    }

    /** Enough of the Secret to delete it. */
    public static Secret named(String namespace, String name) {
        return new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .endMetadata()
                .build();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }
}
