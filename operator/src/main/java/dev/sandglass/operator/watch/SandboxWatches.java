package dev.sandglass.operator.watch;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.javaoperatorsdk.operator.api.config.informer.FieldSelectorBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the operator watches: sandboxes, what it made for them, their activity and their namespaces. Says which change
 * concerns which sandbox, and which concerns none; and reads and writes the caches that the watches fill.
 */
public final class SandboxWatches {

    /** Objects in one answer of a list: the text of ten thousand pods at once would need more memory than the pods. */
    public static final long PAGE = 500;

    /** Index of the seats that no sandbox has claimed. */
    private static final String SEATS = "seats-by-pool";

    /** Index of the pools. */
    private static final String POOLS = "pools-by-namespace";

    private SandboxWatches() {}

    /**
     * The kinds that an administrator who installs definitions by hand may have left out.
     *
     * @param toolServers whether the API server has SandboxToolServer
     * @param pools whether it has SandboxPool
     */
    public record Kinds(boolean toolServers, boolean pools) {

        /** None of them. */
        public static final Kinds NONE = new Kinds(false, false);
    }

    /**
     * What is watched besides the sandboxes.
     *
     * @param kinds of which the API server has; a watch of one that it does not have never begins
     */
    public static List<EventSource<?, Sandbox>> sources(
            PodSettings settings, TenantNamespaces tenants, Kinds kinds, EventSourceContext<Sandbox> context) {
        List<EventSource<?, Sandbox>> sources = new ArrayList<>(List.of(
                pods(context),
                source(Lease.class, SandboxLabels.SANDBOX, context),
                source(PersistentVolumeClaim.class, SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR, context),
                policies(context)));
        if (tenants.byLabel()) {
            sources.add(namespaces(context));
        }
        if (kinds.toolServers()) {
            sources.add(toolServers(context));
        }
        if (kinds.pools()) {
            sources.add(pools(context));
        }
        settings.authorities().ifPresent(authorities -> sources.add(authorities(authorities, context)));
        return sources;
    }

    /** A seat that no sandbox has claimed concerns none; it is found by its pool. */
    private static InformerEventSource<Pod, Sandbox> pods(EventSourceContext<Sandbox> context) {
        InformerEventSource<Pod, Sandbox> pods =
                source(Pod.class, SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR, context);
        pods.addIndexers(Map.of(SEATS, SandboxWatches::poolOfSeat));
        return pods;
    }

    private static List<String> poolOfSeat(Pod pod) {
        return ClaimedPod.poolOfFree(pod).stream()
                .map(pool -> key(pod.getMetadata().getNamespace(), pool))
                .toList();
    }

    private static String key(String namespace, String pool) {
        return namespace + "/" + pool;
    }

    /** A change of a pool starts no rounds: the next start of a sandbox looks at what there is. */
    private static InformerEventSource<SandboxPool, Sandbox> pools(EventSourceContext<Sandbox> context) {
        InformerEventSource<SandboxPool, Sandbox> pools = new InformerEventSource<>(
                InformerEventSourceConfiguration.from(SandboxPool.class, Sandbox.class)
                        .withInformerListLimit(PAGE)
                        .withSecondaryToPrimaryMapper(pool -> Set.of())
                        .build(),
                context);
        pools.addIndexers(Map.of(POOLS, pool -> List.of(pool.getMetadata().getNamespace())));
        return pools;
    }

    /** The pools of the namespace of the sandbox of this round; only where the API server has the kind. */
    public static List<SandboxPool> poolsBeside(Context<Sandbox> context) {
        return informer(SandboxPool.class, context)
                .byIndex(POOLS, context.getPrimaryResource().getMetadata().getNamespace());
    }

    /** The seats of a pool in that namespace, whatever their state, but for those that were claimed in this moment. */
    public static List<Pod> seats(String pool, Context<Sandbox> context) {
        String namespace = context.getPrimaryResource().getMetadata().getNamespace();
        return informer(Pod.class, context).byIndex(SEATS, key(namespace, pool)).stream()
                // The index does not know of our own writes before the watch has told of them.
                .flatMap(pod -> latest(pod, context).stream())
                .filter(ClaimedPod::isFree)
                .toList();
    }

    /** A pod as the cache has it by now. */
    public static Optional<Pod> latest(Pod pod, Context<Sandbox> context) {
        return informer(Pod.class, context).get(ResourceID.fromResource(pod));
    }

    /** Puts a changed pod into the cache. */
    public static void rememberChanged(Pod written, Pod before, Context<Sandbox> context) {
        informer(Pod.class, context).handleRecentResourceUpdate(ResourceID.fromResource(written), written, before);
    }

    /** A namespace that becomes a tenant's, or ceases to be, concerns every sandbox in it. */
    private static InformerEventSource<Namespace, Sandbox> namespaces(EventSourceContext<Sandbox> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Namespace.class, Sandbox.class)
                        .withLabelSelector(SandboxLabels.TENANT)
                        .withInformerListLimit(PAGE)
                        .withSecondaryToPrimaryMapper(
                                namespace -> sandboxesIn(namespace.getMetadata().getName(), context))
                        .build(),
                context);
    }

    /** What the pod of a tool server's sandbox is made of; statuses, which change often, are of no interest. */
    private static InformerEventSource<SandboxToolServer, Sandbox> toolServers(EventSourceContext<Sandbox> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(SandboxToolServer.class, Sandbox.class)
                        .withInformerListLimit(PAGE)
                        .withOnUpdateFilter(SandboxWatches::isOther)
                        .withSecondaryToPrimaryMapper(server -> Set.of(new ResourceID(
                                SandboxToolServer.childName(server.getMetadata().getName()),
                                server.getMetadata().getNamespace())))
                        .build(),
                context);
    }

    private static boolean isOther(HasMetadata after, HasMetadata before) {
        return !Objects.equals(
                        after.getMetadata().getUid(), before.getMetadata().getUid())
                || !Objects.equals(
                        after.getMetadata().getGeneration(),
                        before.getMetadata().getGeneration());
    }

    /** The one ConfigMap of each namespace that is ours; it concerns sandboxes only if it is not as it should be. */
    private static InformerEventSource<ConfigMap, Sandbox> authorities(
            TrustedAuthorities authorities, EventSourceContext<Sandbox> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(ConfigMap.class, Sandbox.class)
                        .withFieldSelector(new FieldSelectorBuilder()
                                .withField("metadata.name", TrustedAuthorities.NAME)
                                .build())
                        .withOnAddFilter(found -> !authorities.areIn(found))
                        .withOnUpdateFilter((found, before) -> !authorities.areIn(found))
                        .withSecondaryToPrimaryMapper(
                                map -> sandboxesIn(map.getMetadata().getNamespace(), context))
                        .build(),
                context);
    }

    private static <R extends HasMetadata> InformerEventSource<R, Sandbox> source(
            Class<R> type, String selector, EventSourceContext<Sandbox> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(type, Sandbox.class)
                        .withLabelSelector(selector)
                        .withInformerListLimit(PAGE)
                        .withSecondaryToPrimaryMapper(SandboxWatches::sandboxOf)
                        .build(),
                context);
    }

    /** Without a selector, since others may have made a namespace's own. New labels start no round. */
    private static InformerEventSource<NetworkPolicy, Sandbox> policies(EventSourceContext<Sandbox> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(NetworkPolicy.class, Sandbox.class)
                        .withInformerListLimit(PAGE)
                        .withOnUpdateFilter(
                                (policy, before) -> !policy.getSpec().equals(before.getSpec()))
                        .withSecondaryToPrimaryMapper(policy -> concerned(policy, context))
                        .build(),
                context);
    }

    /** The sandbox of a policy; a namespace's policy concerns all that are in it. */
    private static Set<ResourceID> concerned(NetworkPolicy policy, EventSourceContext<Sandbox> context) {
        return ChildNames.ofNamespace(policy.getMetadata().getName())
                ? sandboxesIn(policy.getMetadata().getNamespace(), context)
                : sandboxOf(policy);
    }

    private static Set<ResourceID> sandboxesIn(String namespace, EventSourceContext<Sandbox> context) {
        return context.getPrimaryCache()
                .list(namespace)
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    private static Set<ResourceID> sandboxOf(HasMetadata child) {
        String name = child.getMetadata().getLabels().get(SandboxLabels.SANDBOX);
        return name == null
                ? Set.of()
                : Set.of(new ResourceID(name, child.getMetadata().getNamespace()));
    }

    /** Whether a change of a sandbox needs a round; nearly all others are our own writes of its status. */
    public static boolean isNews(Sandbox after, Sandbox before) {
        return isOther(after, before)
                || after.isMarkedForDeletion() != before.isMarkedForDeletion()
                || !Objects.equals(wake(after), wake(before));
    }

    private static @Nullable String wake(Sandbox sandbox) {
        return Optional.ofNullable(sandbox.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.WAKE))
                .orElse(null);
    }

    /** What the cache knows of that name in the namespace of the sandbox of this round. */
    public static <R extends HasMetadata> Optional<R> cached(Class<R> type, String name, Context<Sandbox> context) {
        return informer(type, context)
                .get(new ResourceID(
                        name, context.getPrimaryResource().getMetadata().getNamespace()));
    }

    /** Puts an own write into the cache, so that the next round neither misses it nor is woken by it. */
    public static <R extends HasMetadata> void remember(Class<R> type, R written, Context<Sandbox> context) {
        informer(type, context).handleRecentResourceCreate(ResourceID.fromResource(written), written);
    }

    /** The cache of a kind, with the watch that fills it. */
    public static <R extends HasMetadata> InformerEventSource<R, Sandbox> informer(
            Class<R> type, Context<Sandbox> context) {
        return (InformerEventSource<R, Sandbox>) context.eventSourceRetriever().getEventSourceFor(type);
    }
}
