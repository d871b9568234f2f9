package dev.sandglass.operator.sandbox;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.child.ChildMetadata;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.NamespaceAccess;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SandboxNetworkPolicy;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.child.ToolServerCheck;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.lifecycle.KnownPool;
import dev.sandglass.operator.lifecycle.Observed;
import dev.sandglass.operator.lifecycle.PodChoice;
import dev.sandglass.operator.lifecycle.StartBlocker;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import dev.sandglass.operator.watch.SandboxWatches;
import dev.sandglass.operator.watch.SandboxWatches.Kinds;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Gathers all that is known of a sandbox, nearly all of it from the caches. It decides nothing. */
public final class SandboxView {

    private final PodSettings settings;
    private final TenantNamespaces tenants;
    private final Supplier<Kinds> kinds;
    private final PodEvents events;
    private final InstantSource clock;

    /**
     * @param kinds of which the API server has, once the operator works
     */
    public SandboxView(
            PodSettings settings,
            TenantNamespaces tenants,
            Supplier<Kinds> kinds,
            PodEvents events,
            InstantSource clock) {
        this.settings = settings;
        this.tenants = tenants;
        this.kinds = kinds;
        this.events = events;
        this.clock = clock;
    }

    /** See {@link SandboxWatches#sources}. */
    List<EventSource<?, Sandbox>> sources(EventSourceContext<Sandbox> context) {
        return SandboxWatches.sources(settings, tenants, kinds.get(), context);
    }

    /** Everything there is to know; empty if the sandbox is not ours, or turns out to be gone. */
    Optional<Observed> observe(Sandbox sandbox, Context<Sandbox> context) {
        if (!isOurs(sandbox, context)) {
            return Optional.empty();
        }
        Optional<Pod> pod = newestPod(sandbox, context);
        Observed seen = observe(sandbox, pod, context);
        // For one that is known to go nothing is made anyway, and its pod has to end.
        boolean going = !sandbox.isMarkedForDeletion() && lost(sandbox, seen) && gone(sandbox, context);
        return going ? Optional.empty() : Optional.of(withBlocker(seen));
    }

    /**
     * The pod of a sandbox that is gone, if Kubernetes did not take the pod with it: {@code --cascade=orphan}, which is a
     * finalizer, leaves the pod without an owner. Asked only after a deletion that a finalizer held for a while.
     */
    Optional<Pod> orphan(Sandbox deleted, Context<Sandbox> context) {
        return deleted.isMarkedForDeletion() && isOurs(deleted, context)
                ? recordedPod(deleted, context)
                : Optional.empty();
    }

    private boolean isOurs(Sandbox sandbox, Context<Sandbox> context) {
        return tenants.has(
                sandbox.getMetadata().getNamespace(), namespace -> SandboxWatches.informer(Namespace.class, context)
                        .get(new ResourceID(namespace))
                        .isPresent());
    }

    private Observed withBlocker(Observed seen) {
        return seen.livePod()
                .filter(pod -> StartBlocker.isDue(pod, seen.now()))
                .map(pod -> seen.withBlocker(events.of(pod, seen.now())))
                .orElse(seen);
    }

    private Observed observe(Sandbox sandbox, Optional<Pod> pod, Context<Sandbox> context) {
        ToolServerCheck ofToolServer = ToolServerCheck.of(sandbox, toolServer(sandbox, context));
        return new Observed(
                sandbox,
                pod,
                SandboxWatches.cached(
                                Lease.class,
                                SandboxLabels.leaseName(sandbox.getMetadata().getUid()),
                                context)
                        .filter(lease -> ChildMetadata.owns(sandbox, lease)),
                namespacePolicy(context)
                        .flatMap(NamespacePolicy::problem)
                        .or(ofToolServer::refusal)
                        .or(() -> PodRefusal.of(sandbox, settings)),
                SandboxWatches.cached(PersistentVolumeClaim.class, ChildNames.workspace(sandbox), context),
                Egress.ignored(sandbox, settings.egress()),
                Optional.empty(),
                ofToolServer.secrets(),
                networkReady(sandbox, context),
                clock.instant());
    }

    /** The tool server of that name in the sandbox's namespace, whether or not the sandbox is its child. */
    private Optional<SandboxToolServer> toolServer(Sandbox sandbox, Context<Sandbox> context) {
        return kinds.get().toolServers()
                ? ToolServerChild.server(sandbox)
                        .flatMap(name -> SandboxWatches.cached(SandboxToolServer.class, name, context))
                : Optional.empty();
    }

    /** Whether the policies are in place, and as they must be, that shut the sandbox in and let it do what it needs. */
    boolean networkReady(Sandbox sandbox, Context<Sandbox> context) {
        return namespacePolicy(context).filter(NamespacePolicy::cutsOff).isPresent() && mayBeReached(sandbox, context);
    }

    /** Whether a policy of its own, or the namespace's, lets it do what it needs. */
    private boolean mayBeReached(Sandbox sandbox, Context<Sandbox> context) {
        NetworkPolicy desired = SandboxNetworkPolicy.desired(sandbox, tenants.own(), settings.egress());
        return networkPolicy(sandbox, context)
                        .filter(own -> own.getSpec().equals(desired.getSpec()))
                        .isPresent()
                || namespaceAccess(context)
                        .filter(all -> NamespaceAccess.grants(all, desired))
                        .isPresent();
    }

    /** Whether something is missing that the status reports, or that was made before there was a status. */
    private static boolean lost(Sandbox sandbox, Observed seen) {
        boolean known = sandbox.observed().podName() != null
                || (sandbox.getStatus() == null && seen.pod().isPresent());
        boolean pod = known && seen.livePod().isEmpty();
        boolean policy = sandbox.observed().holds(ConditionType.NETWORK_READY) && !seen.networkReady();
        return pod || policy;
    }

    /**
     * When a sandbox is deleted, garbage collection may take what it had before we hear of the deletion, as each kind is
     * watched apart; nothing must be replaced for a sandbox that no longer exists. Nor for one that is on its way out: with
     * {@code --cascade=orphan} the pod is let go, with its keys, and with {@code foreground} it goes first.
     */
    private static boolean gone(Sandbox sandbox, Context<Sandbox> context) {
        Sandbox found = context.getClient().resource(sandbox).get();
        return found == null
                || found.isMarkedForDeletion()
                || !found.getMetadata().getUid().equals(sandbox.getMetadata().getUid());
    }

    Optional<NetworkPolicy> networkPolicy(Sandbox sandbox, Context<Sandbox> context) {
        return SandboxWatches.cached(NetworkPolicy.class, ChildNames.networkPolicy(sandbox), context);
    }

    Optional<NetworkPolicy> namespacePolicy(Context<Sandbox> context) {
        return SandboxWatches.cached(NetworkPolicy.class, ChildNames.NAMESPACE_POLICY, context);
    }

    Optional<NetworkPolicy> namespaceAccess(Context<Sandbox> context) {
        return SandboxWatches.cached(NetworkPolicy.class, ChildNames.NAMESPACE_ACCESS, context);
    }

    /** The authorities that the sandboxes of the namespace trust; asked only if the installation has some. */
    Optional<ConfigMap> authorities(Context<Sandbox> context) {
        return settings.authorities()
                .flatMap(mine -> SandboxWatches.cached(ConfigMap.class, TrustedAuthorities.NAME, context));
    }

    /**
     * The newest pod of the sandbox. If the status names a pod that the cache does not know, the cache may be behind; to
     * take that for a lost pod would start a second one, so the API server is asked.
     */
    private Optional<Pod> newestPod(Sandbox sandbox, Context<Sandbox> context) {
        Optional<Pod> newest = PodChoice.current(sandbox, owned(sandbox, context));
        String recorded = sandbox.observed().podName();
        if (recorded == null
                || newest.filter(pod -> PodChoice.isCertain(sandbox, pod)).isPresent()) {
            return newest;
        }
        // An orphan of a sandbox that is on its way out has to end too.
        return recordedPod(sandbox, context)
                .filter(pod -> ChildMetadata.owns(sandbox, pod) || sandbox.isMarkedForDeletion())
                .or(() -> newest);
    }

    private static Optional<Pod> recordedPod(Sandbox sandbox, Context<Sandbox> context) {
        return Optional.ofNullable(sandbox.observed().podName()).map(name -> context.getClient()
                .pods()
                .inNamespace(sandbox.getMetadata().getNamespace())
                .withName(name)
                .get());
    }

    private static List<Pod> owned(Sandbox sandbox, Context<Sandbox> context) {
        return context.getSecondaryResources(Pod.class).stream()
                .filter(pod -> ChildMetadata.owns(sandbox, pod))
                .toList();
    }

    /** The pods that a sandbox has by mistake besides the one that counts. */
    List<Pod> strays(Observed seen, Context<Sandbox> context) {
        return seen.pod()
                .map(current -> PodChoice.strays(current, owned(seen.sandbox(), context)))
                .orElse(List.of());
    }

    /** The seats of the sandbox's namespace that no sandbox has claimed, whatever their pool and their state. */
    List<Pod> seats(Context<Sandbox> context) {
        List<SandboxPool> pools = kinds.get().pools() ? SandboxWatches.poolsBeside(context) : List.of();
        return pools.stream()
                .flatMap(pool -> SandboxWatches.seats(pool.getMetadata().getName(), context).stream())
                .toList();
    }

    /**
     * The pools of the sandbox's namespace that give seats; empty if the API server does not have the kind.
     *
     * @param making what seats are made with now; asked only if there is a pool
     */
    List<KnownPool> pools(Supplier<SeatPod.Making> making, Context<Sandbox> context) {
        List<SandboxPool> pools = kinds.get().pools() ? SandboxWatches.poolsBeside(context) : List.of();
        return pools.isEmpty() ? List.of() : KnownPool.of(pools, making.get());
    }
}
