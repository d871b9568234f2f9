package dev.sandglass.e2e.support;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;

/** All that a sandbox must not reach, with addresses, and where a control pod reaches the like of it. */
public final class Surroundings {

    public static final String METADATA = "169.254.169.254";
    public static final String PUBLIC_HOST = "198.51.100.10";
    private static final int MANAGEMENT_PORT = 8081;

    private final KubernetesClient kubernetes;
    private final ControlPod control;
    private final List<Target> targets = new ArrayList<>();

    public Surroundings(KubernetesClient kubernetes, ControlPod control) {
        this.kubernetes = kubernetes;
        this.control = control;
    }

    /**
     * Something to attack.
     *
     * @param name what it is
     * @param kind tcp, udp, icmp or resolve
     * @param host address, or the name to resolve
     * @param port 0 where there is none
     * @param unguarded where a control pod tries: the same host, or one without the walls that this one has itself
     */
    public record Target(String name, String kind, String host, int port, String unguarded) {

        public Target seenFromControl() {
            return new Target(name, kind, unguarded, port, unguarded);
        }
    }

    public List<Target> all(Sandbox victim, List<Integer> portsOfVictim) {
        apiServer();
        nameServer();
        ownComponents();
        node();
        host("a metadata service", METADATA, List.of(80), List.of(80));
        host("a public host", PUBLIC_HOST, List.of(80, 443), List.of(53, 443));
        host("a pod of another namespace", control.address(), List.of(SandboxLabels.LINK_PORT), List.of());
        String address = String.valueOf(victim.observed().address());
        portsOfVictim.forEach(port -> add("another sandbox, port " + port, "tcp", address, port, control.address()));
        add("another sandbox, ping", "icmp", address, 0, control.address());
        return List.copyOf(targets);
    }

    private void apiServer() {
        Service service = kubernetes
                .services()
                .inNamespace("default")
                .withName("kubernetes")
                .require();
        add("the API server's Service", "tcp", service.getSpec().getClusterIP(), 443);
        apiServers(kubernetes).forEach(slice -> slice.getEndpoints().forEach(endpoint -> endpoint.getAddresses()
                .forEach(address -> add(
                        "the API server",
                        "tcp",
                        address,
                        slice.getPorts().getFirst().getPort()))));
    }

    /** Where the API server itself listens. */
    public static List<EndpointSlice> apiServers(KubernetesClient kubernetes) {
        return kubernetes
                .discovery()
                .v1()
                .endpointSlices()
                .inNamespace("default")
                .withLabel("kubernetes.io/service-name", "kubernetes")
                .list()
                .getItems();
    }

    private void nameServer() {
        Service dns = kubernetes
                .services()
                .inNamespace("kube-system")
                .withLabel("k8s-app", "kube-dns")
                .list()
                .getItems()
                .getFirst();
        add("the cluster's DNS over TCP", "tcp", dns.getSpec().getClusterIP(), 53);
        add("the cluster's DNS over UDP", "udp", dns.getSpec().getClusterIP(), 53);
        String name = "kubernetes.default.svc.cluster.local";
        add("a name of the cluster", "resolve", name, 0);
    }

    private void ownComponents() {
        kubernetes
                .services()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_GATEWAY)
                .list()
                .getItems()
                .forEach(service -> add(
                        "the gateway's Service",
                        "tcp",
                        service.getSpec().getClusterIP(),
                        service.getSpec().getPorts().getFirst().getPort()));
        podsOf(SandboxLabels.COMPONENT_GATEWAY).forEach(address -> {
            add("a gateway replica at " + address, "tcp", address, 8080);
            add("management of a gateway replica at " + address, "tcp", address, MANAGEMENT_PORT, control.address());
        });
        podsOf("operator")
                .forEach(address ->
                        add("the operator at " + address, "tcp", address, MANAGEMENT_PORT, control.address()));
    }

    private List<String> podsOf(String component) {
        return kubernetes
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(Installation.OF_CHART)
                .withLabel(SandboxLabels.COMPONENT, component)
                .list()
                .getItems()
                .stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map(pod -> pod.getStatus().getPodIP())
                .toList();
    }

    private void node() {
        String address = addressOfNode(kubernetes);
        host("the node", address, List.of(22, 10250, 10255), List.of(10255));
    }

    public static String addressOfNode(KubernetesClient kubernetes) {
        return kubernetes.nodes().list().getItems().getFirst().getStatus().getAddresses().stream()
                .filter(address -> "InternalIP".equals(address.getType()))
                .map(NodeAddress::getAddress)
                .findFirst()
                .orElseThrow();
    }

    private void host(String name, String address, List<Integer> tcp, List<Integer> udp) {
        tcp.forEach(port -> add(name + ", TCP port " + port, "tcp", address, port));
        udp.forEach(port -> add(name + ", UDP port " + port, "udp", address, port));
        add(name + ", ping", "icmp", address, 0);
    }

    private void add(String name, String kind, String host, int port) {
        add(name, kind, host, port, host);
    }

    private void add(String name, String kind, String host, int port, String unguarded) {
        targets.add(new Target(name, kind, host, port, unguarded));
    }
}
