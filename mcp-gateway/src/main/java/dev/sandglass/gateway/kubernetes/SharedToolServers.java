package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MCP servers that sandboxes share, as resources, read from the informers' cache. A cluster that does not know the kind
 * has none; that is looked at again and again, and told once.
 */
public final class SharedToolServers implements SharedServers, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SharedToolServers.class);
    private static final int MAX_CAUSE_CHARS = 500;
    private static final long PAGE = 500;

    private final KubernetesSandboxes sandboxes;
    private final Map<String, SharedIndexInformer<SandboxToolServer>> informers = new LinkedHashMap<>();
    private final AtomicBoolean unknownKind = new AtomicBoolean();

    /**
     * Does not connect before {@link #start}.
     *
     * @param client closed by whoever made it
     * @param namespaces of all tenants, or {@link KubernetesSandboxes#EVERYWHERE} alone
     * @param sandboxes whose code may call servers
     */
    public SharedToolServers(KubernetesClient client, List<String> namespaces, KubernetesSandboxes sandboxes) {
        this.sandboxes = sandboxes;
        for (String namespace : namespaces) {
            informers.put(
                    namespace,
                    servers(client, namespace)
                            .withLimit(PAGE)
                            .runnableInformer(0)
                            .exceptionHandler((started, problem) -> {
                                tell(namespace, problem);
                                return true;
                            }));
        }
    }

    private static Informable<SandboxToolServer> servers(KubernetesClient client, String namespace) {
        var all = client.resources(SandboxToolServer.class);
        return namespace.equals(KubernetesSandboxes.EVERYWHERE) ? all.inAnyNamespace() : all.inNamespace(namespace);
    }

    private void tell(String namespace, Throwable problem) {
        if (isUnknownKind(problem)) {
            if (unknownKind.compareAndSet(false, true)) {
                LOG.info("This cluster does not know the kind SandboxToolServer: there are no MCP servers to share");
            }
            return;
        }
        LOG.atWarn()
                .addKeyValue("namespace", namespace)
                .addKeyValue("cause", ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                .log("Watching shared MCP servers failed, trying again");
    }

    private static boolean isUnknownKind(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof KubernetesClientException known
                    && known.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                return true;
            }
        }
        return false;
    }

    /** Starts to follow the resources; returns at once. */
    public void start() {
        informers.values().forEach(SharedIndexInformer::start);
    }

    /** Whether all of them are known. */
    public boolean isSynced() {
        return informers.values().stream().allMatch(SharedIndexInformer::hasSynced);
    }

    @Override
    public Optional<Asker> asker(String sandboxUid) {
        return sandboxes
                .resource(sandboxUid)
                .filter(resource -> !SandboxStateReader.isOfServer(resource))
                .map(SharedToolServers::asker);
    }

    /** Selectors can choose one sandbox by the labels that its pod has; nobody gives a sandbox those of another. */
    private static Asker asker(Sandbox resource) {
        ObjectMeta meta = resource.getMetadata();
        var labels = new HashMap<>(Optional.ofNullable(meta.getLabels()).orElseGet(Map::of));
        labels.put(SandboxLabels.SANDBOX, meta.getName());
        labels.put(SandboxLabels.SANDBOX_UID, meta.getUid());
        return new Asker(meta.getUid(), meta.getNamespace(), meta.getName(), labels);
    }

    @Override
    public Optional<SharedServer> find(Asker asker, String name) {
        return usableBy(asker)
                .filter(resource -> ToolServerReader.name(resource).equals(name))
                .findFirst()
                .flatMap(ToolServerReader::read);
    }

    @Override
    public List<SharedServer> usable(Asker asker) {
        var byName = new TreeMap<String, SandboxToolServer>();
        usableBy(asker).forEach(resource -> byName.putIfAbsent(ToolServerReader.name(resource), resource));
        return byName.values().stream()
                .flatMap(resource -> ToolServerReader.read(resource).stream())
                .toList();
    }

    @Override
    public Optional<SharedServer> current(SharedServer.Identity identity) {
        return in(identity.namespace())
                .filter(resource -> identity.uid().equals(resource.getMetadata().getUid()))
                .findFirst()
                .flatMap(ToolServerReader::read);
    }

    @Override
    public boolean isBeingReplaced(Asker asker, String name) {
        return usableBy(asker)
                        .filter(resource -> AgentServerWrites.isOne(resource)
                                && AgentServerWrites.givenName(resource).equals(name))
                        .limit(2)
                        .count()
                > 1;
    }

    /** Servers of agents that no gateway looks after any more, see {@link Succession#abandoned}. */
    List<SandboxToolServer> abandoned(Instant now) {
        Map<List<String>, List<SandboxToolServer>> named = informers.values().stream()
                .flatMap(informer -> informer.getStore().list().stream())
                .filter(AgentServerWrites::isOne)
                .collect(Collectors.groupingBy(resource -> List.of(
                        resource.getMetadata().getNamespace(),
                        AgentServerWrites.ownerUid(resource),
                        AgentServerWrites.givenName(resource))));
        return named.values().stream()
                .flatMap(resources -> Succession.abandoned(resources, now).stream())
                .toList();
    }

    @Override
    public int ofAgents(String namespace) {
        return (int) in(namespace).filter(AgentServerWrites::isOne).count();
    }

    /** Of several that have one name in code, the first counts; one that is about to go leaves it to the next. */
    private Stream<SandboxToolServer> usableBy(Asker asker) {
        return in(asker.namespace())
                .filter(resource -> resource.getSpec() != null
                        && resource.getMetadata().getDeletionTimestamp() == null
                        && resource.getSpec().selector().matches(asker.labels()))
                .sorted(AgentServerWrites.PRECEDENCE);
    }

    private Stream<SandboxToolServer> in(String namespace) {
        return Optional.ofNullable(informers.getOrDefault(namespace, informers.get(KubernetesSandboxes.EVERYWHERE)))
                .stream()
                .flatMap(informer -> informer.getIndexer().byIndex(Cache.NAMESPACE_INDEX, namespace).stream());
    }

    @Override
    public void close() {
        informers.values().forEach(SharedIndexInformer::stop);
    }
}
