package dev.sandglass.operator;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.Egress;
import dev.sandglass.operator.child.NamespaceAccess;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.child.PodSettings;
import dev.sandglass.operator.child.Refusal;
import dev.sandglass.operator.child.SandboxNetworkPolicy;
import dev.sandglass.operator.child.TrustedAuthorities;
import dev.sandglass.operator.lifecycle.Holdup;
import dev.sandglass.operator.lifecycle.Observed;
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
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Gathers all that is known of a sandbox, nearly all of it from the caches. It decides nothing. */
final class SandboxView {

    /** Objects in one answer of a list: the text of ten thousand pods at once would need more memory than the pods. */
    static final long PAGE = 500;

    private final PodSettings settings;
    private final TenantNamespaces tenants;
    private final PodEvents events;
    private final InstantSource clock;

    SandboxView(PodSettings settings, TenantNamespaces tenants, PodEvents events, InstantSource clock) {
        this.settings = settings;
        this.tenants = tenants;
        this.events = events;
        this.clock = clock;
    }

    /** What is watched besides the sandboxes. */
    List<EventSource<?, Sandbox>> sources(EventSourceContext<Sandbox> context) {
        List<EventSource<?, Sandbox>> sources = new ArrayList<>(List.of(
                source(Pod.class, SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR, context),
                source(Lease.class, SandboxLabels.SANDBOX, context),
                source(PersistentVolumeClaim.class, SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR, context),
                policies(context)));
        if (tenants.byLabel()) {
            sources.add(namespaces(context));
        }
        settings.authorities().ifPresent(authorities -> sources.add(authorities(authorities, context)));
        return sources;
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

    /** The one ConfigMap of each namespace that is ours; it wakes somebody only if it is not as it should be. */
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
                        .withSecondaryToPrimaryMapper(SandboxView::sandboxOf)
                        .build(),
                context);
    }

    /** Without a selector, since a namespace's own may have been made by somebody else. New labels wake nobody. */
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

    /** Whether a change of a sandbox is somebody's order; nearly all others are our own writes of its status. */
    static boolean isNews(Sandbox after, Sandbox before) {
        return !Objects.equals(
                        after.getMetadata().getUid(), before.getMetadata().getUid())
                || !Objects.equals(
                        after.getMetadata().getGeneration(),
                        before.getMetadata().getGeneration())
                || after.isMarkedForDeletion() != before.isMarkedForDeletion()
                || !Objects.equals(wake(after), wake(before));
    }

    private static @Nullable String wake(Sandbox sandbox) {
        return Optional.ofNullable(sandbox.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.WAKE))
                .orElse(null);
    }

    /** Everything there is to know; empty if the sandbox is not ours, or turns out to be gone. */
    Optional<Observed> observe(Sandbox sandbox, Context<Sandbox> context) {
        boolean ours = tenants.has(sandbox.getMetadata().getNamespace(), namespace -> informer(Namespace.class, context)
                .get(new ResourceID(namespace))
                .isPresent());
        if (!ours) {
            return Optional.empty();
        }
        Optional<Pod> pod = newestPod(sandbox, context);
        Observed seen = observe(sandbox, pod, context);
        return lost(sandbox, seen) && gone(sandbox, context) ? Optional.empty() : Optional.of(withHoldup(seen));
    }

    private Observed withHoldup(Observed seen) {
        return seen.livePod()
                .filter(pod -> Holdup.isDue(pod, seen.now()))
                .map(pod -> seen.withHoldup(events.of(pod, seen.now())))
                .orElse(seen);
    }

    private Observed observe(Sandbox sandbox, Optional<Pod> pod, Context<Sandbox> context) {
        return new Observed(
                sandbox,
                pod,
                cached(
                                Lease.class,
                                SandboxLabels.leaseName(sandbox.getMetadata().getUid()),
                                context)
                        .filter(lease -> owns(sandbox, lease)),
                namespacePolicy(context).flatMap(NamespacePolicy::problem).or(() -> Refusal.of(sandbox, settings)),
                cached(PersistentVolumeClaim.class, ChildNames.workspace(sandbox), context),
                Egress.ignored(sandbox, settings.egress()),
                Optional.empty(),
                networkReady(sandbox, context),
                clock.instant());
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

    /** Whether something is not there that the status tells of, or that was made before there was a status. */
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
     * {@code --cascade=orphan} the pod it lets go still runs, with its keys, and with {@code foreground} it goes first.
     */
    private static boolean gone(Sandbox sandbox, Context<Sandbox> context) {
        Sandbox found = context.getClient().resource(sandbox).get();
        return found == null
                || found.isMarkedForDeletion()
                || !found.getMetadata().getUid().equals(sandbox.getMetadata().getUid());
    }

    Optional<NetworkPolicy> networkPolicy(Sandbox sandbox, Context<Sandbox> context) {
        return cached(NetworkPolicy.class, ChildNames.networkPolicy(sandbox), context);
    }

    Optional<NetworkPolicy> namespacePolicy(Context<Sandbox> context) {
        return cached(NetworkPolicy.class, ChildNames.NAMESPACE_POLICY, context);
    }

    Optional<NetworkPolicy> namespaceAccess(Context<Sandbox> context) {
        return cached(NetworkPolicy.class, ChildNames.NAMESPACE_ACCESS, context);
    }

    /** The authorities that the sandboxes of the namespace trust; asked only if the installation has some. */
    Optional<ConfigMap> authorities(Context<Sandbox> context) {
        return settings.authorities().flatMap(mine -> cached(ConfigMap.class, TrustedAuthorities.NAME, context));
    }

    /**
     * The newest pod of the sandbox. If the status names a pod that the cache does not know, the cache may be behind; to
     * take that for a lost pod would start a second one, so the API server is asked.
     */
    private Optional<Pod> newestPod(Sandbox sandbox, Context<Sandbox> context) {
        Optional<Pod> newest = context.getSecondaryResources(Pod.class).stream()
                .filter(pod -> owns(sandbox, pod))
                .max(Comparator.comparingInt(Observed::incarnationOf));
        String recorded = sandbox.observed().podName();
        if (recorded == null || newest.filter(pod -> isAtLeast(pod, sandbox)).isPresent()) {
            return newest;
        }
        Pod found = context.getClient()
                .pods()
                .inNamespace(sandbox.getMetadata().getNamespace())
                .withName(recorded)
                .get();
        return Optional.ofNullable(found).filter(pod -> owns(sandbox, pod)).or(() -> newest);
    }

    private static boolean isAtLeast(Pod pod, Sandbox sandbox) {
        Integer recorded = sandbox.observed().incarnation();
        return recorded == null || Observed.incarnationOf(pod) >= recorded;
    }

    static boolean owns(Sandbox sandbox, HasMetadata child) {
        return child.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> owner.getUid().equals(sandbox.getMetadata().getUid()));
    }

    private static <R extends HasMetadata> Optional<R> cached(Class<R> type, String name, Context<Sandbox> context) {
        return informer(type, context)
                .get(new ResourceID(
                        name, context.getPrimaryResource().getMetadata().getNamespace()));
    }

    /** Puts an own write into the cache, so that the next round neither misses it nor is woken by it. */
    static <R extends HasMetadata> void remember(Class<R> type, R written, Context<Sandbox> context) {
        informer(type, context).handleRecentResourceCreate(ResourceID.fromResource(written), written);
    }

    static <R extends HasMetadata> InformerEventSource<R, Sandbox> informer(Class<R> type, Context<Sandbox> context) {
        return (InformerEventSource<R, Sandbox>) context.eventSourceRetriever().getEventSourceFor(type);
    }
}
