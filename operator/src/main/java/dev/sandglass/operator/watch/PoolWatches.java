package dev.sandglass.operator.watch;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Pod;
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
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the operator watches for pools: their unclaimed seats, and what a namespace must have before a pod. It does so from the
 * first pool on, so that a cluster without pools costs the watch of pools alone.
 */
public final class PoolWatches {

    /** A seat that a sandbox claims leaves the watch, as if it were deleted. */
    private static final String SEATS = SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR + ","
            + SandboxLabels.POOL + ",!" + SandboxLabels.SANDBOX_UID;

    private PoolWatches() {}

    /** Begins to watch what a pool needs, and returns when the caches are filled. May be repeated. */
    public static void begin(PodSettings settings, TenantNamespaces tenants, Context<SandboxPool> context) {
        for (EventSource<?, SandboxPool> source :
                sources(settings, tenants, context.eventSourceRetriever().eventSourceContextForDynamicRegistration())) {
            context.eventSourceRetriever().dynamicallyRegisterEventSource(source);
        }
    }

    private static List<EventSource<?, SandboxPool>> sources(
            PodSettings settings, TenantNamespaces tenants, EventSourceContext<SandboxPool> context) {
        List<EventSource<?, SandboxPool>> sources = new ArrayList<>(List.of(policies(context), seats(context)));
        if (tenants.byLabel()) {
            sources.add(namespaces(context));
        }
        settings.authorities().ifPresent(authorities -> sources.add(authorities(authorities, context)));
        return sources;
    }

    private static InformerEventSource<Pod, SandboxPool> seats(EventSourceContext<SandboxPool> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Pod.class, SandboxPool.class)
                        .withLabelSelector(SEATS)
                        .withInformerListLimit(SandboxWatches.PAGE)
                        .withSecondaryToPrimaryMapper(pod -> Set.of(new ResourceID(
                                pod.getMetadata().getLabels().get(SandboxLabels.POOL),
                                pod.getMetadata().getNamespace())))
                        .build(),
                context);
    }

    /** A policy of a namespace concerns every pool in it; those of sandboxes concern none. */
    private static InformerEventSource<NetworkPolicy, SandboxPool> policies(EventSourceContext<SandboxPool> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(NetworkPolicy.class, SandboxPool.class)
                        .withInformerListLimit(SandboxWatches.PAGE)
                        .withOnUpdateFilter(
                                (policy, before) -> !policy.getSpec().equals(before.getSpec()))
                        .withSecondaryToPrimaryMapper(policy ->
                                ChildNames.ofNamespace(policy.getMetadata().getName())
                                        ? poolsIn(policy.getMetadata().getNamespace(), context)
                                        : Set.of())
                        .build(),
                context);
    }

    /** A namespace that becomes a tenant's, or ceases to be, concerns every pool in it. */
    private static InformerEventSource<Namespace, SandboxPool> namespaces(EventSourceContext<SandboxPool> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Namespace.class, SandboxPool.class)
                        .withLabelSelector(SandboxLabels.TENANT)
                        .withInformerListLimit(SandboxWatches.PAGE)
                        .withSecondaryToPrimaryMapper(
                                namespace -> poolsIn(namespace.getMetadata().getName(), context))
                        .build(),
                context);
    }

    /** The one ConfigMap of each namespace that is ours. */
    private static InformerEventSource<ConfigMap, SandboxPool> authorities(
            TrustedAuthorities authorities, EventSourceContext<SandboxPool> context) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(ConfigMap.class, SandboxPool.class)
                        .withFieldSelector(new FieldSelectorBuilder()
                                .withField("metadata.name", TrustedAuthorities.NAME)
                                .build())
                        .withOnAddFilter(found -> !authorities.areIn(found))
                        .withOnUpdateFilter((found, before) -> !authorities.areIn(found))
                        .withSecondaryToPrimaryMapper(
                                map -> poolsIn(map.getMetadata().getNamespace(), context))
                        .build(),
                context);
    }

    private static Set<ResourceID> poolsIn(String namespace, EventSourceContext<SandboxPool> context) {
        return context.getPrimaryCache()
                .list(namespace)
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    /** Whether the installation looks after the namespace of a pool. */
    public static boolean isOurs(SandboxPool pool, TenantNamespaces tenants, Context<SandboxPool> context) {
        return tenants.has(pool.getMetadata().getNamespace(), namespace -> informer(Namespace.class, context)
                .get(new ResourceID(namespace))
                .isPresent());
    }

    /** The unclaimed seats of a pool, as the cache has them. */
    public static List<Pod> seats(SandboxPool pool, Context<SandboxPool> context) {
        return context.getSecondaryResources(Pod.class).stream()
                .filter(pod -> SeatPod.belongsTo(pool, pod))
                .toList();
    }

    /** Unclaimed seats that name the pool and that none has, as the cache has them: a pool of that name let them go. */
    public static List<Pod> orphans(Context<SandboxPool> context) {
        return context.getSecondaryResources(Pod.class).stream()
                .filter(SeatPod::isOrphan)
                .toList();
    }

    /** What the cache knows of that name in the namespace of the pool of this round. */
    public static <R extends HasMetadata> Optional<R> cached(Class<R> type, String name, Context<SandboxPool> context) {
        return informer(type, context)
                .get(new ResourceID(
                        name, context.getPrimaryResource().getMetadata().getNamespace()));
    }

    /** Puts an own write into the cache, so that the next round neither misses it nor is woken by it. */
    public static <R extends HasMetadata> void remember(Class<R> type, R written, Context<SandboxPool> context) {
        informer(type, context).handleRecentResourceCreate(ResourceID.fromResource(written), written);
    }

    private static <R extends HasMetadata> InformerEventSource<R, SandboxPool> informer(
            Class<R> type, Context<SandboxPool> context) {
        return (InformerEventSource<R, SandboxPool>)
                context.eventSourceRetriever().getEventSourceFor(type);
    }
}
