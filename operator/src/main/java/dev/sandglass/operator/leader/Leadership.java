package dev.sandglass.operator.leader;

import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfig;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectorBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which of several replicas works, decided by a Lease. Not left to the framework, which has a replica that does not lead
 * hold and decode everything all the same, for years, to save the next leader a second or two (ADR 0017); ends the
 * process when it stops to lead, also while it is ending anyway, where that call never returns; and keeps the Lease until
 * it expires. Here lost leadership is reported, and a replica that ends hands over at once.
 */
public final class Leadership {

    private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

    /** These three are what Kubernetes' own components have. */
    private static final Duration HELD_FOR = Duration.ofSeconds(15);

    private static final Duration RENEWED_WITHIN = Duration.ofSeconds(10);
    private static final Duration ASKED_EVERY = Duration.ofSeconds(2);

    /** How often at most: a renewal that was under way, and the owner that {@link #tie} writes. */
    private static final int WRITTEN_MEANWHILE = 2;

    private final KubernetesClient client;
    private final Election election;
    private final String namespace;
    private final String lease;
    private final String identity = UUID.randomUUID().toString();
    private final Runnable onLeading;
    private final Consumer<String> onLost;
    private volatile Optional<String> leader = Optional.empty();
    private volatile boolean stopping;
    private volatile CompletableFuture<?> competition = CompletableFuture.completedFuture(null);

    /**
     * Prepares; nothing is contacted before {@link #compete()}.
     *
     * @param onLeading called once in a thread of its own, which it may keep as long as it likes
     * @param onLost called when another replica may lead, unless {@link #stopping()} came before
     */
    public Leadership(KubernetesClient client, Election election, Runnable onLeading, Consumer<String> onLost) {
        this.client = client;
        this.election = election;
        this.namespace = election.namespace();
        this.lease = election.lease();
        this.onLeading = onLeading;
        this.onLost = onLost;
    }

    /** Tries to lead from now on, and to go on leading; returns at once. */
    public void compete() {
        competition = new LeaderElectorBuilder(client, Thread::startVirtualThread)
                .withConfig(configuration())
                .build()
                .start();
        if (stopping) {
            competition.cancel(true);
        }
    }

    private LeaderElectionConfig configuration() {
        return new LeaderElectionConfigBuilder()
                .withName(lease)
                .withLock(new Lock())
                .withLeaseDuration(HELD_FOR)
                .withRenewDeadline(RENEWED_WITHIN)
                .withRetryPeriod(ASKED_EVERY)
                .withLeaderCallbacks(new LeaderCallbacks(this::started, this::stopped, this::noted))
                .build();
    }

    /**
     * Written no more once it is to be given up: an elector that is cancelled in the moment in which it has come to lead renews
     * once all the same, and would take again what was just given up.
     */
    private final class Lock extends LeaseLock {

        Lock() {
            super(namespace, lease, identity);
        }

        @Override
        public synchronized void update(KubernetesClient through, LeaderElectionRecord renewed) {
            if (stopping) {
                throw new KubernetesClientException("This replica is stopping");
            }
            super.update(through, renewed);
        }
    }

    private void noted(@Nullable String holder) {
        leader = Optional.ofNullable(holder).filter(name -> !name.isEmpty());
        if (isElsewhere()) {
            LOG.atInfo().addKeyValue("leader", holder).log("Another replica leads; this one waits");
        }
    }

    /** Whether another replica leads, as far as this one knows: then there is nothing for it to do. */
    public boolean isElsewhere() {
        return leader.filter(name -> !name.equals(identity)).isPresent();
    }

    /** The elector waits for the end of this before it renews the Lease. */
    private void started() {
        LOG.atInfo().log("This replica leads");
        Thread.ofPlatform().name("leading").start(() -> {
            onLeading.run();
            election.account().ifPresent(this::tie);
        });
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
        if (!stopping) {
            onLost.accept("This replica leads no longer");
        }
    }

    /** From now on it is no surprise not to lead, and nothing is done to lead. */
    public void stopping() {
        stopping = true;
        competition.cancel(true);
    }

    /** Gives the Lease up if it is ours; failing to do so costs the successor its remaining time and nothing else. */
    public void release() {
        try {
            for (int left = WRITTEN_MEANWHILE; !released(left == 0); left--) {
                LOG.atDebug().log("The lease was written meanwhile; it is given up anew");
            }
        } catch (KubernetesClientException e) {
            LOG.atInfo().setCause(e).log("The lease could not be given up");
        }
    }

    /**
     * Tries to give the Lease up.
     *
     * @param last whether a conflict is an error and not an answer
     * @return whether it is not ours any more
     */
    private boolean released(boolean last) {
        Lease held = client.leases().inNamespace(namespace).withName(lease).get();
        if (held == null || !identity.equals(held.getSpec().getHolderIdentity())) {
            return true;
        }
        held.getSpec().setHolderIdentity("");
        try {
            client.resource(held).update();
            return true;
        } catch (KubernetesClientException e) {
            if (last || e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw e;
            }
            return false;
        }
    }
}
