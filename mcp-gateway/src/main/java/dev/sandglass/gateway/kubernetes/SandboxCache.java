package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * All sandboxes of the tenants' namespaces as the API server told them last, one informer for each namespace or one for
 * all. While the API server is away the cache stays as it was; the informers try again by themselves.
 */
final class SandboxCache implements AutoCloseable {

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(SandboxCache.class);
    private static final String BY_UID = "uid";

    /** Sandboxes in one answer of a list, so that the text of very many does not fill the memory. */
    private static final long PAGE = 500;

    /** Stands for all namespaces; no namespace is called so. */
    static final String EVERYWHERE = "*";

    private final Map<String, SharedIndexInformer<Sandbox>> informers = new LinkedHashMap<>();
    private final Map<String, Set<FluxSink<Optional<Sandbox>>>> watchers = new ConcurrentHashMap<>();

    /**
     * A cache of those namespaces; empty until started.
     *
     * @param namespaces each by its name, or {@link #EVERYWHERE} alone
     * @param gone told of every resource that was deleted
     */
    SandboxCache(KubernetesClient client, List<String> namespaces, Consumer<Sandbox> gone) {
        for (String namespace : namespaces) {
            SharedIndexInformer<Sandbox> informer = sandboxes(client, namespace)
                    .withLimit(PAGE)
                    .runnableInformer(0)
                    .addIndexers(Map.of(
                            BY_UID, sandbox -> List.of(sandbox.getMetadata().getUid())))
                    .exceptionHandler((started, problem) -> {
                        LOG.atWarn()
                                .addKeyValue("namespace", namespace)
                                .addKeyValue(
                                        "cause",
                                        ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                                .log("Watching sandboxes failed, trying again");
                        return true;
                    });
            informer.addEventHandler(new Handler(gone));
            informers.put(namespace, informer);
        }
    }

    private static Informable<Sandbox> sandboxes(KubernetesClient client, String namespace) {
        var all = client.resources(Sandbox.class);
        return namespace.equals(EVERYWHERE) ? all.inAnyNamespace() : all.inNamespace(namespace);
    }

    private Optional<SharedIndexInformer<Sandbox>> informer(String namespace) {
        return Optional.ofNullable(informers.getOrDefault(namespace, informers.get(EVERYWHERE)));
    }

    /** Starts watching and returns at once. */
    void start() {
        informers.values().forEach(SharedIndexInformer::start);
    }

    /** Whether that namespace was read whole at least once, so that what is not in the cache does not exist. */
    boolean isSynced(String namespace) {
        return informer(namespace).filter(SharedIndexInformer::hasSynced).isPresent();
    }

    /** Whether every namespace was read whole at least once. */
    boolean isSynced() {
        return informers.values().stream().allMatch(SharedIndexInformer::hasSynced);
    }

    Optional<Sandbox> get(String namespace, String name) {
        return informer(namespace).map(informer -> informer.getIndexer().getByKey(key(namespace, name)));
    }

    Optional<Sandbox> getByUid(String namespace, String uid) {
        return informer(namespace)
                .flatMap(informer ->
                        informer.getIndexer().byIndex(BY_UID, uid).stream().findFirst())
                .filter(sandbox -> namespace.equals(sandbox.getMetadata().getNamespace()));
    }

    /** The one with that UID, in whatever namespace. */
    Optional<Sandbox> getByUid(String uid) {
        return informers.values().stream()
                .flatMap(informer -> informer.getIndexer().byIndex(BY_UID, uid).stream())
                .findFirst();
    }

    List<Sandbox> list(String namespace) {
        var all = new ArrayList<Sandbox>();
        informer(namespace)
                .ifPresent(informer -> all.addAll(informer.getIndexer().byIndex(Cache.NAMESPACE_INDEX, namespace)));
        all.sort(Comparator.comparing(sandbox -> sandbox.getMetadata().getName()));
        return all;
    }

    /** Those of all namespaces. */
    Stream<Sandbox> all() {
        return informers.values().stream().flatMap(informer -> informer.getIndexer().list().stream());
    }

    /** The resource as it is, then whenever it changes; empty while there is none. Never ends by itself. */
    Flux<Optional<Sandbox>> follow(String namespace, String name) {
        return follow(key(namespace, name), () -> get(namespace, name));
    }

    /** The same of the one with that UID. */
    Flux<Optional<Sandbox>> followByUid(String namespace, String uid) {
        return follow(uidKey(namespace, uid), () -> getByUid(namespace, uid));
    }

    private Flux<Optional<Sandbox>> follow(String key, Supplier<Optional<Sandbox>> now) {
        return Flux.create(
                sink -> {
                    watchers.compute(key, (same, sinks) -> {
                        Set<FluxSink<Optional<Sandbox>>> all = sinks == null ? ConcurrentHashMap.newKeySet() : sinks;
                        all.add(sink);
                        return all;
                    });
                    sink.onDispose(() -> watchers.computeIfPresent(key, (same, sinks) -> {
                        sinks.remove(sink);
                        return sinks.isEmpty() ? null : sinks;
                    }));
                    sink.next(now.get());
                },
                FluxSink.OverflowStrategy.LATEST);
    }

    private void tell(Sandbox changed) {
        String namespace = changed.getMetadata().getNamespace();
        String name = changed.getMetadata().getName();
        String uid = changed.getMetadata().getUid();
        // Read again rather than passed on: a watcher that has just come may have seen something newer.
        tell(key(namespace, name), get(namespace, name));
        tell(uidKey(namespace, uid), getByUid(namespace, uid));
    }

    private void tell(String key, Optional<Sandbox> now) {
        watchers.getOrDefault(key, Set.of()).forEach(sink -> sink.next(now));
    }

    private static String key(String namespace, String name) {
        return namespace + "/" + name;
    }

    /** No name is empty, so that it is no key of a name. */
    private static String uidKey(String namespace, String uid) {
        return namespace + "//" + uid;
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::stop);
    }

    /** Passes changes on to those who follow. */
    private final class Handler implements ResourceEventHandler<Sandbox> {
        private final Consumer<Sandbox> gone;

        private Handler(Consumer<Sandbox> gone) {
            this.gone = gone;
        }

        @Override
        public void onAdd(Sandbox added) {
            tell(added);
        }

        @Override
        public void onUpdate(Sandbox before, Sandbox now) {
            tell(now);
        }

        @Override
        public void onDelete(Sandbox deleted, boolean finalStateUnknown) {
            gone.accept(deleted);
            tell(deleted);
        }
    }
}
