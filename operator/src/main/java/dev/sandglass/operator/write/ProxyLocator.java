package dev.sandglass.operator.write;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.operator.pod.ProxyAccess;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Tells each new pod where the egress proxy is, and with which credential. The address of a Service changes only if it is
 * made anew; it is read again so seldom that this does not count, and so soon that no pod gets an old one for long.
 */
public final class ProxyLocator {

    static final Duration FRESH = Duration.ofSeconds(10);

    private final KubernetesClient client;
    private final String namespace;
    private final String service;
    private final EgressSecret secret;
    private final InstantSource clock;

    private String address = "";
    private Instant read = Instant.MIN;

    /**
     * @param namespace the installation's own
     */
    public ProxyLocator(
            KubernetesClient client, String namespace, String service, EgressSecret secret, InstantSource clock) {
        this.client = client;
        this.namespace = namespace;
        this.service = service;
        this.secret = secret;
        this.clock = clock;
    }

    /**
     * What the next pod of that id gets.
     *
     * @param id see {@link dev.sandglass.operator.pod.PodSubject#id}
     * @throws IllegalStateException if there is no such Service; the pod had better wait than never get out
     */
    ProxyAccess of(String id) {
        return ProxyAccess.of(id, address(), secret);
    }

    /** What the credentials derive from. */
    EgressSecret secret() {
        return secret;
    }

    /** IP address of the Service. */
    synchronized String address() {
        Instant now = clock.instant();
        if (address.isEmpty() || !now.isBefore(read.plus(FRESH))) {
            address = ask();
            read = now;
        }
        return address;
    }

    private String ask() {
        Service found =
                client.services().inNamespace(namespace).withName(service).get();
        String ip = found == null ? null : found.getSpec().getClusterIP();
        if (ip == null || ip.isEmpty() || ip.equals("None")) {
            throw new IllegalStateException("The egress proxy's Service " + namespace + "/" + service
                    + (found == null ? " does not exist" : " has no cluster IP"));
        }
        return ip;
    }
}
