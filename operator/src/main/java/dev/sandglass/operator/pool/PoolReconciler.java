package dev.sandglass.operator.pool;

import dev.sandglass.api.Reason;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolStatus;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.lifecycle.Observed;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import dev.sandglass.operator.watch.PoolWatches;
import dev.sandglass.operator.write.ApiErrors;
import dev.sandglass.operator.write.ChildWriter;
import dev.sandglass.operator.write.ClaimActivity;
import dev.sandglass.operator.write.SandboxEvents;
import dev.sandglass.operator.write.SeatWriter;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ErrorStatusUpdateControl;
import io.javaoperatorsdk.operator.api.reconciler.PrimaryUpdateAndCacheUtils;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/** Looks, decides, acts and reports, for one pool at a time. The claims of its seats are the matter of the sandboxes. */
public final class PoolReconciler implements Reconciler<SandboxPool> {

    private static final Logger LOG = LoggerFactory.getLogger(PoolReconciler.class);

    private final SeatWriter seats;
    private final ChildWriter children;
    private final PodSettings settings;
    private final TenantNamespaces tenants;
    private final ClaimActivity claims;
    private final SandboxEvents events;
    private final PoolMeters meters;
    private final InstantSource clock;

    /** By the UID of the pool; dropped when the pool is gone. */
    private final Map<String, Tended> tended = new ConcurrentHashMap<>();

    private boolean watching;

    /** What is known of a pool besides what the cluster shows; used by one round at a time. */
    private static final class Tended {
        private final SeatExpectations expectations = new SeatExpectations();
        private PoolMemory memory = PoolMemory.NONE;
    }

    public PoolReconciler(
            SeatWriter seats,
            ChildWriter children,
            PodSettings settings,
            TenantNamespaces tenants,
            ClaimActivity claims,
            SandboxEvents events,
            PoolMeters meters,
            InstantSource clock) {
        this.seats = seats;
        this.children = children;
        this.settings = settings;
        this.tenants = tenants;
        this.claims = claims;
        this.events = events;
        this.meters = meters;
        this.clock = clock;
    }

    @Override
    public UpdateControl<SandboxPool> reconcile(SandboxPool pool, Context<SandboxPool> context) {
        UpdateControl<SandboxPool> done = UpdateControl.noUpdate();
        watch(context);
        boolean gone = context.isPrimaryResourceDeleted();
        boolean ours = PoolWatches.isOurs(pool, tenants, context);
        if (ours) {
            // No round comes after that of a pool that is gone, and the watch of seats may be behind that of pools.
            (gone ? seats.orphans(pool) : PoolWatches.orphans(context)).forEach(seats::end);
        }
        if (gone || pool.isMarkedForDeletion() || !ours) {
            tended.remove(pool.getMetadata().getUid());
            meters.gone(pool);
            return done;
        }
        Tended known = tended.computeIfAbsent(pool.getMetadata().getUid(), uid -> new Tended());
        Instant now = clock.instant();
        SeatPod.Making making = seats.making();
        PoolView seen = look(pool, known, making, now, context);
        PoolPlan plan = PoolPlan.of(seen);
        log(pool, plan);
        seen.seats().stream().map(Seat::pod).filter(Observed::lacksKeys).forEach(seats::giveKeys);
        plan.end().forEach(seat -> end(seat, known));
        if (plan.make()) {
            make(pool, making, known, now, context);
        }
        PoolView after = seen.after(known.expectations.seats(PoolWatches.seats(pool, context)), known.memory);
        meters.saw(after);
        Optional<Instant> untold = tell(after, known, context);
        Stream.of(plan.review(), known.expectations.nextDoubt(), untold)
                .flatMap(Optional::stream)
                .min(Comparator.naturalOrder())
                .map(at -> Duration.between(now, at))
                .ifPresent(delay -> done.rescheduleAfter(delay.isPositive() ? delay : Duration.ofMillis(1)));
        return done;
    }

    private synchronized void watch(Context<SandboxPool> context) {
        if (!watching) {
            PoolWatches.begin(settings, tenants, context);
            watching = true;
        }
    }

    private PoolView look(
            SandboxPool pool, Tended known, SeatPod.Making making, Instant now, Context<SandboxPool> context) {
        known.expectations.doubtful(now).forEach(pod -> ask(pool, pod, known, now));
        List<Seat> found = known.expectations.seats(PoolWatches.seats(pool, context));
        String hash = SeatPod.hash(pool, making);
        PoolView seen = new PoolView(
                pool,
                found,
                hash,
                PoolRefusal.of(pool, settings),
                namespacePolicy(context).flatMap(NamespacePolicy::problem),
                known.memory.seen(found, hash, now),
                lastClaim(pool, known, found, now),
                seats.heldUntil(pool.getMetadata().getNamespace()),
                now);
        known.memory = seen.memory().lacking(seen.present().size() < seen.wanted(), now);
        return seen.after(found, known.memory);
    }

    private Optional<Instant> lastClaim(SandboxPool pool, Tended known, List<Seat> found, Instant now) {
        return Stream.of(claims.latest(pool.getMetadata().getNamespace()), known.expectations.lastClaim(found, now))
                .flatMap(Optional::stream)
                .max(Comparator.naturalOrder());
    }

    /** Whether a seat is there that the cache does not show. */
    private void ask(SandboxPool pool, Pod made, Tended known, Instant now) {
        Optional<Pod> found = seats.find(made).filter(pod -> SeatPod.belongsTo(pool, pod));
        found.ifPresentOrElse(pod -> known.expectations.confirmed(pod, now), () -> known.expectations.notMade(made));
    }

    private void end(Seat seat, Tended known) {
        if (seats.end(seat.pod())) {
            known.expectations.ended(seat);
            meters.ended(seat);
        }
    }

    private void make(
            SandboxPool pool, SeatPod.Making making, Tended known, Instant now, Context<SandboxPool> context) {
        try {
            prepare(pool.getMetadata().getNamespace(), context);
        } catch (KubernetesClientException e) {
            if (!ApiErrors.isQuota(e)) {
                throw e;
            }
            known.memory = known.memory.refused(new PodRefusal(Reason.QUOTA_EXCEEDED, ApiErrors.of(e)), now);
            return;
        }
        // Not what the cache says of all policies: it may not have those yet that were made this moment.
        if (namespacePolicy(context).flatMap(NamespacePolicy::problem).isPresent()) {
            return;
        }
        String seatId = UUID.randomUUID().toString();
        Pod desired = SeatPod.desired(pool, seatId, making);
        known.expectations.making(desired, now);
        meters.begun(desired);
        ChildWriter.PodResult result = seats.make(pool, seatId, making);
        result.pod().ifPresent(made -> {
            known.expectations.confirmed(made, now);
            known.memory = known.memory.made(now);
        });
        result.refusal().ifPresent(why -> {
            known.expectations.notMade(desired);
            meters.notMade(desired);
            known.memory = known.memory.refused(why, now);
        });
    }

    /** Makes what a pod needs before it is made. */
    private void prepare(String namespace, Context<SandboxPool> context) {
        children.isolateNamespace(namespace, namespacePolicy(context))
                .ifPresent(made -> PoolWatches.remember(NetworkPolicy.class, made, context));
        children.open(namespace, PoolWatches.cached(NetworkPolicy.class, ChildNames.NAMESPACE_ACCESS, context))
                .ifPresent(made -> PoolWatches.remember(NetworkPolicy.class, made, context));
        Optional<ConfigMap> authorities = settings.authorities()
                .flatMap(mine -> PoolWatches.cached(ConfigMap.class, TrustedAuthorities.NAME, context));
        children.trust(namespace, authorities).ifPresent(map -> PoolWatches.remember(ConfigMap.class, map, context));
    }

    private static Optional<NetworkPolicy> namespacePolicy(Context<SandboxPool> context) {
        return PoolWatches.cached(NetworkPolicy.class, ChildNames.NAMESPACE_POLICY, context);
    }

    /** Writes the status if it says anything new; when to do so later, if what is new may be over by then. */
    private Optional<Instant> tell(PoolView after, Tended known, Context<SandboxPool> context) {
        SandboxPoolStatus former = after.pool().observed();
        SandboxPoolStatus status = PoolReport.of(after);
        if (status.equals(former)) {
            known.memory = known.memory.untoldSince(Optional.empty());
            return Optional.empty();
        }
        Instant since = known.memory.untold().orElse(after.now());
        Instant due = since.plus(PoolReport.PATIENCE);
        if (!PoolReport.isNews(former, status) && after.now().isBefore(due)) {
            known.memory = known.memory.untoldSince(Optional.of(since));
            return Optional.of(due);
        }
        publish(status, after.pool(), after.now(), context);
        known.memory = known.memory.untoldSince(Optional.empty());
        return Optional.empty();
    }

    private void publish(SandboxPoolStatus status, SandboxPool pool, Instant now, Context<SandboxPool> context) {
        SandboxPoolStatus former = pool.observed();
        try {
            PrimaryUpdateAndCacheUtils.updateStatusAndCacheResource(pool, context, latest -> {
                latest.setStatus(status);
                return latest;
            });
            PoolReport.notice(former, status).ifPresent(notice -> events.tell(pool, 0, notice, now));
        } catch (KubernetesClientException e) {
            if (e.getCode() != 404) {
                throw e;
            }
            about(pool, LOG.atDebug()).log("Pool is gone");
        }
    }

    @Override
    public ErrorStatusUpdateControl<SandboxPool> updateErrorStatus(
            SandboxPool pool, Context<SandboxPool> context, Exception failure) {
        meters.failed();
        String message = "The operator failed and tries again: " + ApiErrors.briefly(failure);
        Instant now = clock.instant();
        SandboxPoolStatus status = PoolReport.failed(pool, message, now);
        if (!status.equals(pool.observed())) {
            publish(status, pool, now, context);
        }
        return ErrorStatusUpdateControl.noStatusUpdate();
    }

    private static void log(SandboxPool pool, PoolPlan plan) {
        boolean quiet = !plan.make() && plan.end().isEmpty();
        about(pool, LOG.atLevel(quiet ? Level.DEBUG : Level.INFO))
                .addKeyValue("make", plan.make())
                .addKeyValue("end", plan.end().size())
                .log("Decided");
    }

    private static LoggingEventBuilder about(SandboxPool pool, LoggingEventBuilder line) {
        return line.addKeyValue("sandboxpool", pool.getMetadata().getName())
                .addKeyValue("namespace", pool.getMetadata().getNamespace())
                .addKeyValue("uid", pool.getMetadata().getUid());
    }
}
