package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.NewTenants;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Makes a namespace for a tenant at its first start: with the label by which all components know it, and Pod Security at
 * {@code restricted}. An admission policy of the chart accepts nothing else from the gateway (ADR 0022).
 */
public final class OnDemandNamespaces implements NewTenants, AutoCloseable {

    /** Who made it, for administrators. */
    static final String MADE_BY = "sandglass-gateway";

    private static final Logger LOG = LoggerFactory.getLogger(OnDemandNamespaces.class);
    private static final int MAX_CHARS = 63;
    private static final Duration LOOK = Duration.ofMillis(50);
    private static final Duration CACHE_LAG = Duration.ofSeconds(5);

    /** What Kubernetes takes as a label's value, besides what every tenant's name is. */
    private static final Pattern LABEL = Pattern.compile(".*[A-Za-z0-9]");

    private static final Map<String, String> LABELS = Map.of(
            SandboxLabels.MANAGED_BY,
            MADE_BY,
            "pod-security.kubernetes.io/enforce",
            "restricted",
            "pod-security.kubernetes.io/enforce-version",
            "latest");

    private final KubernetesClient client;
    private final Supplier<Map<String, String>> known;
    private final int most;
    private final Duration cacheLag;
    private final ApiCalls calls = new ApiCalls();

    /** Namespaces that are being made, each of which has its place in the bound until it is known. */
    private final Set<String> making = new HashSet<>();

    private final Lock oneAtATime = new ReentrantLock();

    /**
     * @param client closed by its maker
     * @param known tenant to namespace, as the labels tell it now
     * @param most that there may be; of several replicas that make some at the same moment, each but one may make one more
     */
    public OnDemandNamespaces(KubernetesClient client, Supplier<Map<String, String>> known, int most) {
        this(client, known, most, CACHE_LAG);
    }

    /**
     * @param cacheLag in which what the API server has must have come to be known
     */
    OnDemandNamespaces(KubernetesClient client, Supplier<Map<String, String>> known, int most, Duration cacheLag) {
        this.client = client;
        this.known = known;
        this.most = most;
        this.cacheLag = cacheLag;
    }

    @Override
    public Mono<String> make(Caller caller, String tenant) {
        String name = PREFIX + new SandboxName(tenant).resourceName();
        int room = MAX_CHARS - PREFIX.length();
        if (name.length() > MAX_CHARS || !LABEL.matcher(tenant).matches()) {
            return Mono.error(
                    refused(tenant, "a new one has at most %d characters, the last a letter or digit".formatted(room)));
        }
        return Mono.defer(() -> reserve(name) ? made(caller, tenant, name) : Mono.error(full(tenant)));
    }

    private boolean reserve(String name) {
        synchronized (making) {
            var taken = new HashSet<>(making);
            known.get().values().stream()
                    .filter(each -> each.startsWith(PREFIX))
                    .forEach(taken::add);
            return taken.contains(name) || (taken.size() < most && making.add(name));
        }
    }

    private void release(String name) {
        synchronized (making) {
            making.remove(name);
        }
    }

    /** Its place is free again before the caller hears that it was not made, and may try another. */
    private Mono<String> made(Caller caller, String tenant, String name) {
        return Mono.using(() -> name, _ -> created(caller, tenant, name), this::release, true);
    }

    private Mono<String> created(Caller caller, String tenant, String name) {
        return calls.about(new SandboxRef(tenant, name, tenant, tenant), () -> createInTurn(caller, tenant, name))
                .onErrorMap(
                        SandboxProblem.Refused.class,
                        problem -> refused(tenant, "the cluster did not take it: " + problem.fact()))
                .flatMap(isThere -> isThere ? awaited(tenant, name) : Mono.error(full(tenant)));
    }

    /** False if there are too many: other replicas make some too, so that the API server alone knows how many there are. */
    private boolean createInTurn(Caller caller, String tenant, String name) throws InterruptedException {
        oneAtATime.lockInterruptibly();
        try {
            Set<String> there =
                    client.namespaces().withLabel(SandboxLabels.MANAGED_BY, MADE_BY).list().getItems().stream()
                            .map(each -> each.getMetadata().getName())
                            .collect(Collectors.toSet());
            if (!there.contains(name) && there.size() < most) {
                create(caller, tenant, name);
            }
            return there.contains(name) || there.size() < most;
        } finally {
            oneAtATime.unlock();
        }
    }

    /** One that is there already another replica made, or it is no tenant's: then its label is awaited in vain. */
    private void create(Caller caller, String tenant, String name) {
        Namespace namespace = new NamespaceBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels(LABELS)
                .addToLabels(SandboxLabels.TENANT, tenant)
                .endMetadata()
                .build();
        try {
            client.resource(namespace).create();
            LOG.atInfo()
                    .addKeyValue("caller", caller.name())
                    .addKeyValue("tenant", tenant)
                    .addKeyValue("namespace", name)
                    .log("Made the namespace of a tenant");
        } catch (KubernetesClientException problem) {
            if (!ApiCalls.isConflict(problem)) {
                throw problem;
            }
        }
    }

    private Mono<String> awaited(String tenant, String name) {
        return Flux.interval(Duration.ZERO, LOOK)
                .filter(_ -> name.equals(known.get().get(tenant)))
                .next()
                .map(_ -> name)
                .timeout(
                        cacheLag,
                        Mono.error(() -> refused(
                                tenant,
                                "the cluster's namespace '%s' is not there for it yet, or is another's; try again in some seconds"
                                        .formatted(name))));
    }

    private SandboxProblem full(String tenant) {
        return refused(
                tenant,
                "there are %d made on demand already, as many as this installation takes (tenantsOnDemand of the chart)"
                        .formatted(most));
    }

    private static SandboxProblem refused(String tenant, String why) {
        return new SandboxProblem.Refused("Namespace '%s' does not exist and was not made: %s.".formatted(tenant, why));
    }

    @Override
    public void close() {
        calls.close();
    }
}
