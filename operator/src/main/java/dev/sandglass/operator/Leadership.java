package dev.sandglass.operator;

import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which of several replicas works, decided by a Lease. The framework would end the process when it stops to lead, also
 * while the process is ending anyway, where that call never returns; and it would keep the Lease until it expires. So
 * both are done here: lost leadership is reported, and a replica that ends hands over at once.
 */
final class Leadership {

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

    private final KubernetesClient client;
    private final OperatorSettings.Election election;
    private final String namespace;
    private final String lease;
    private final String identity = UUID.randomUUID().toString();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final Consumer<String> onLost;

    Leadership(KubernetesClient client, OperatorSettings.Election election, Consumer<String> onLost) {
        this.client = client;
        this.election = election;
        this.namespace = election.namespace();
        this.lease = election.lease();
        this.onLost = onLost;
    }

    LeaderElectionConfiguration configuration() {
        return new LeaderElectionConfiguration(
                lease,
                namespace,
                LeaderElectionConfiguration.LEASE_DURATION_DEFAULT_VALUE,
                LeaderElectionConfiguration.RENEW_DEADLINE_DEFAULT_VALUE,
                LeaderElectionConfiguration.RETRY_PERIOD_DEFAULT_VALUE,
                identity,
                new LeaderCallbacks(this::started, this::stopped, leader -> {}),
                false);
    }

    private void started() {
        LOG.atInfo().log("This replica leads");
        election.account().ifPresent(this::tie);
    }

    /** Has the Lease deleted with the installation: no release knows of it, and as long as there is one it is renewed. */
    private void tie(String account) {
        try {
            ServiceAccount owner = client.serviceAccounts()
                    .inNamespace(namespace)
                    .withName(account)
                    .get();
            if (owner == null) {
                return;
            }
            Map<String, String> reference = Map.of(
                    "apiVersion",
                    "v1",
                    "kind",
                    "ServiceAccount",
                    "name",
                    account,
                    "uid",
                    owner.getMetadata().getUid());
            client.leases()
                    .inNamespace(namespace)
                    .withName(lease)
                    .patch(
                            PatchContext.of(PatchType.JSON_MERGE),
                            Serialization.asJson(Map.of("metadata", Map.of("ownerReferences", List.of(reference)))));
        } catch (KubernetesClientException e) {
            LOG.atInfo().setCause(e).log("The lease will stay when the operator is uninstalled");
        }
    }

    private void stopped() {
        if (!stopping.get()) {
            onLost.accept("This replica leads no longer");
        }
    }

    /** From now on it is no surprise not to lead. */
    void stopping() {
        stopping.set(true);
    }

    /** Gives the Lease up if it is ours; failing to do so costs the successor its remaining time and nothing else. */
    void release() {
        try {
            Lease held = client.leases().inNamespace(namespace).withName(lease).get();
            if (held != null && identity.equals(held.getSpec().getHolderIdentity())) {
                held.getSpec().setHolderIdentity("");
                client.resource(held).update();
            }
        } catch (KubernetesClientException e) {
            LOG.atInfo().setCause(e).log("The lease could not be given up");
        }
    }
}
