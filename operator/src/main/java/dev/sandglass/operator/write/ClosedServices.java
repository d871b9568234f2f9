package dev.sandglass.operator.write;

import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.ProbeSettings;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.ServiceSpec;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the addresses that each new pod tries to reach in vain: the API server's, and those of the MCP gateway's Service,
 * which answers on every address family that the cluster has. A pod starts without what cannot be found: less is tried
 * then.
 */
public final class ClosedServices {

    /** As the gateway's pods listen. */
    static final int GATEWAY_PORT = 8080;

    private static final Duration FRESH = Duration.ofSeconds(10);
    private static final int FORBIDDEN = 403;
    private static final Logger LOG = LoggerFactory.getLogger(ClosedServices.class);

    private final KubernetesClient client;
    private final String namespace;
    private final ProbeSettings settings;
    private final InstantSource clock;

    private List<ClosedAddress> gateway = List.of();
    private Instant read = Instant.MIN;

    /**
     * @param namespace the installation's own
     */
    public ClosedServices(KubernetesClient client, String namespace, ProbeSettings settings, InstantSource clock) {
        this.client = client;
        this.namespace = namespace;
        this.settings = settings;
        this.clock = clock;
    }

    /** What the next pod tries. */
    public NetworkProbe probe() {
        List<ClosedAddress> all = new ArrayList<>();
        settings.apiServer().ifPresent(all::add);
        settings.gatewayService().ifPresent(service -> all.addAll(gateway(service)));
        return new NetworkProbe(all, settings.required());
    }

    private synchronized List<ClosedAddress> gateway(String service) {
        Instant now = clock.instant();
        if (!now.isBefore(read.plus(FRESH))) {
            gateway = addresses(ask(service));
            read = now;
        }
        return gateway;
    }

    private Optional<Service> ask(String service) {
        try {
            return Optional.ofNullable(
                    client.services().inNamespace(namespace).withName(service).get());
        } catch (KubernetesClientException e) {
            if (e.getCode() != FORBIDDEN) {
                throw e;
            }
            LOG.atWarn()
                    .addKeyValue("service", service)
                    .addKeyValue("cause", ApiErrors.briefly(e))
                    .log("Sandboxes do not try the gateway's Service");
            return Optional.empty();
        }
    }

    /** Every cluster IP of the Service, on its first port. */
    static List<ClosedAddress> addresses(Optional<Service> service) {
        ServiceSpec spec = service.map(Service::getSpec).orElseGet(ServiceSpec::new);
        List<ServicePort> ports = spec.getPorts();
        return ports.isEmpty()
                ? List.of()
                : spec.getClusterIPs().stream()
                        .filter(ip -> !ip.isEmpty() && !ip.equals("None"))
                        .map(ip -> new ClosedAddress(ip, ports.getFirst().getPort(), Set.of(GATEWAY_PORT)))
                        .toList();
    }
}
