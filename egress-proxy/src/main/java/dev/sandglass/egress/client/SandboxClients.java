package dev.sandglass.egress.client;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sandboxes and their pods as the API server reported them last. A pod counts from its first address until its deletion begins
 * or it has ended, and only if the sandbox that controls it exists; two pods at one address count as none.
 */
public final class SandboxClients implements Clients, AutoCloseable {

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(SandboxClients.class);
    private static final String BY_ADDRESS = "address";
    private static final String BY_UID = "uid";

    /** Objects in one answer of a list, so that the text of very many does not fill the memory. */
    private static final long PAGE = 500;

    /** For the API server's answer to a question on which a request waits. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final ResourceDefinitionContext SANDBOXES =
            ResourceDefinitionContext.fromResourceType(Sandbox.class);

    /** For questions to the API server, whose answers may take long. */
    private static final Executor QUESTIONS =
            task -> Thread.ofVirtual().name("pod-question").start(task);

    /** A list that was read, and of which version of the resource. */
    private record Read(String version, EgressRules rules) {}

    private final List<SharedIndexInformer<Pod>> pods = new ArrayList<>();
    private final List<SharedIndexInformer<GenericKubernetesResource>> sandboxes = new ArrayList<>();
    private final Map<String, Read> lists = new ConcurrentHashMap<>();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final TenantNamespaces tenants;
    private final KubernetesClient client;
    private final boolean openPermitted;
    private final EgressRules defaults;

    /**
     * The sandboxes of those namespaces; none until started.
     *
     * @param openPermitted whether the entry {@code *} counts
     * @param defaults for sandboxes without a list
     */
    public SandboxClients(
            KubernetesClient client, Collection<String> namespaces, boolean openPermitted, DefaultDomains defaults) {
        this(client, TenantNamespaces.named(namespaces), openPermitted, defaults);
    }

    /**
     * The sandboxes of those tenants; none until started.
     *
     * @param tenants started and closed with this
     * @param openPermitted whether the entry {@code *} counts
     * @param defaults for sandboxes without a list
     */
    public SandboxClients(
            KubernetesClient client, TenantNamespaces tenants, boolean openPermitted, DefaultDomains defaults) {
        this.tenants = tenants;
        this.client = client;
        this.openPermitted = openPermitted;
        this.defaults = defaults.rules();
        tenants.onChange(this::namespaceChanged);
        if (tenants.byLabel()) {
            watch(
                    client.pods().inAnyNamespace(),
                    client.genericKubernetesResources(SANDBOXES).inAnyNamespace(),
                    "*");
        } else {
            tenants.names()
                    .forEach(namespace -> watch(
                            client.pods().inNamespace(namespace),
                            client.genericKubernetesResources(SANDBOXES).inNamespace(namespace),
                            namespace));
        }
    }

    private void watch(
            FilterWatchListDeletable<Pod, PodList, PodResource> podsThere,
            FilterWatchListDeletable<
                            GenericKubernetesResource,
                            GenericKubernetesResourceList,
                            Resource<GenericKubernetesResource>>
                    sandboxesThere,
            String namespace) {
        SharedIndexInformer<Pod> podInformer = podsThere
                .withLabel(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .withLimit(PAGE)
                .runnableInformer(0)
                .addIndexers(Map.of(BY_ADDRESS, PodOwner::addresses));
        podInformer.addEventHandler(new PodChanges(this::tell));
        pods.add(forever(podInformer, namespace));
        SharedIndexInformer<GenericKubernetesResource> sandboxInformer = sandboxesThere
                .withLimit(PAGE)
                .runnableInformer(0)
                .addIndexers(
                        Map.of(BY_UID, sandbox -> List.of(sandbox.getMetadata().getUid())));
        sandboxInformer.addEventHandler(new Changes<>(this::sandboxChanged));
        sandboxes.add(forever(sandboxInformer, namespace));
    }

    static <T> SharedIndexInformer<T> forever(SharedIndexInformer<T> informer, String namespace) {
        return informer.exceptionHandler((started, problem) -> {
            LOG.atWarn()
                    .addKeyValue("namespace", namespace)
                    .addKeyValue("cause", ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                    .log("Watching failed, trying again");
            return true;
        });
    }

    /** Starts watching and returns at once. */
    public void start() {
        tenants.start();
        pods.forEach(SharedIndexInformer::start);
        sandboxes.forEach(SharedIndexInformer::start);
    }

    @Override
    public boolean isSynced() {
        return tenants.isSynced()
                && pods.stream().allMatch(SharedIndexInformer::hasSynced)
                && sandboxes.stream().allMatch(SharedIndexInformer::hasSynced);
    }

    @Override
    public Optional<Client> at(IpAddress source) {
        // An owner in another namespace is none, whatever a reference says.
        return podAt(source).flatMap(pod -> PodOwner.owner(pod)
                .flatMap(this::sandbox)
                .filter(sandbox -> sandbox.getMetadata()
                        .getNamespace()
                        .equals(pod.getMetadata().getNamespace()))
                .flatMap(sandbox -> PodOwner.subject(pod, sandbox.getMetadata().getUid())
                        .flatMap(subject -> client(sandbox, subject))));
    }

    @Override
    public boolean awaitsClaim(IpAddress source) {
        return podAt(source)
                .filter(PodOwner::isSeat)
                .filter(pod -> PodOwner.isUnclaimed(pod)
                        || PodOwner.owner(pod)
                                .filter(uid -> PodOwner.subject(pod, uid).isPresent() && !knows(uid))
                                .isPresent())
                .isPresent();
    }

    private Optional<Pod> podAt(IpAddress source) {
        List<Pod> there = pods.stream()
                .flatMap(informer -> informer.getIndexer().byIndex(BY_ADDRESS, source.toString()).stream())
                .filter(pod -> tenants.has(pod.getMetadata().getNamespace()))
                .toList();
        return there.size() == 1 ? Optional.of(there.getFirst()) : Optional.empty();
    }

    @Override
    public CompletionStage<Boolean> confirm(IpAddress source, String uid) {
        Optional<Pod> known = podAt(source).filter(pod -> PodOwner.owner(pod).equals(Optional.of(uid)));
        return known.isEmpty()
                ? CompletableFuture.completedStage(false)
                : CompletableFuture.supplyAsync(() -> isStillAt(source, known.get()), QUESTIONS)
                        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                        .exceptionally(problem -> {
                            LOG.atDebug().setCause(problem).log("Asking for a pod failed");
                            return false;
                        });
    }

    private boolean isStillAt(IpAddress source, Pod known) {
        var metadata = known.getMetadata();
        Pod now = client.pods()
                .inNamespace(metadata.getNamespace())
                .withName(metadata.getName())
                .get();
        return now != null
                && metadata.getUid().equals(now.getMetadata().getUid())
                && PodOwner.owner(known).equals(PodOwner.owner(now))
                && PodOwner.addresses(now).contains(source.toString());
    }

    @Override
    public boolean knows(String uid) {
        return sandbox(uid).isPresent();
    }

    @Override
    public void onChange(Consumer<String> listener) {
        listeners.add(listener);
    }

    private void tell(String uid) {
        listeners.forEach(listener -> listener.accept(uid));
    }

    private void sandboxChanged(GenericKubernetesResource sandbox) {
        String uid = sandbox.getMetadata().getUid();
        if (!knows(uid)) {
            lists.remove(uid);
        }
        tell(uid);
    }

    /** A namespace that is no tenant's any more takes its sandboxes along. */
    private void namespaceChanged(String namespace) {
        sandboxes.stream()
                .flatMap(informer -> informer.getIndexer().list().stream())
                .filter(sandbox -> namespace.equals(sandbox.getMetadata().getNamespace()))
                .forEach(this::sandboxChanged);
    }

    private Optional<GenericKubernetesResource> sandbox(String uid) {
        return sandboxes.stream()
                .flatMap(informer -> informer.getIndexer().byIndex(BY_UID, uid).stream())
                .filter(sandbox -> tenants.has(sandbox.getMetadata().getNamespace()))
                .findFirst();
    }

    private Optional<Client> client(GenericKubernetesResource sandbox, String subject) {
        if (sandbox.isMarkedForDeletion()) {
            return Optional.empty();
        }
        var metadata = sandbox.getMetadata();
        String version = String.valueOf(metadata.getResourceVersion());
        Read read = Objects.requireNonNull(lists.compute(
                metadata.getUid(),
                (uid, known) ->
                        known != null && known.version().equals(version) ? known : new Read(version, rules(sandbox))));
        return Optional.of(
                new Client(metadata.getUid(), subject, metadata.getNamespace(), metadata.getName(), read.rules()));
    }

    /** What the API server should have refused opens nothing. */
    private EgressRules rules(GenericKubernetesResource sandbox) {
        Object list = sandbox.get("spec", "allowedDomains");
        if (list == null) {
            return defaults;
        }
        if (!(list instanceof List<?> entries)) {
            return EgressRules.NONE;
        }
        try {
            EgressRules rules =
                    EgressRules.parse(entries.stream().map(String::valueOf).toList());
            return openPermitted ? rules : rules.withoutOpen();
        } catch (IllegalArgumentException e) {
            LOG.atWarn()
                    .addKeyValue("sandbox", sandbox.getMetadata().getName())
                    .addKeyValue("namespace", sandbox.getMetadata().getNamespace())
                    .addKeyValue("cause", ForeignText.line(String.valueOf(e.getMessage()), MAX_CAUSE_CHARS))
                    .log("allowedDomains is wrong and allows nothing");
            return EgressRules.NONE;
        }
    }

    @Override
    public void close() {
        tenants.close();
        pods.forEach(SharedIndexInformer::stop);
        sandboxes.forEach(SharedIndexInformer::stop);
    }

    /** Whom the change of a pod concerns: its sandbox, and the one that was it before. */
    private record PodChanges(Consumer<String> listener) implements ResourceEventHandler<Pod> {
        @Override
        public void onAdd(Pod added) {
            PodOwner.owner(added).ifPresent(listener);
        }

        @Override
        public void onUpdate(Pod before, Pod now) {
            Optional<String> owner = PodOwner.owner(now);
            owner.ifPresent(listener);
            PodOwner.owner(before)
                    .filter(former -> !Optional.of(former).equals(owner))
                    .ifPresent(listener);
        }

        @Override
        public void onDelete(Pod deleted, boolean finalStateUnknown) {
            PodOwner.owner(deleted).ifPresent(listener);
        }
    }

    /** Every change in one place. */
    record Changes<T>(Consumer<T> listener) implements ResourceEventHandler<T> {
        @Override
        public void onAdd(T added) {
            listener.accept(added);
        }

        @Override
        public void onUpdate(T before, T now) {
            listener.accept(now);
        }

        @Override
        public void onDelete(T deleted, boolean finalStateUnknown) {
            listener.accept(deleted);
        }
    }
}
