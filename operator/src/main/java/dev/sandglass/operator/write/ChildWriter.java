package dev.sandglass.operator.write;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.child.ChildMetadata;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.NamespaceAccess;
import dev.sandglass.operator.child.NamespacePolicy;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.SandboxNetworkPolicy;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.pod.PodSubject;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Makes, changes and deletes what a sandbox and its namespace need, but for claims ({@link Storage}), Events
 * ({@link SandboxEvents}) and the status. Each write can be repeated: what exists already, or is gone already, is success.
 */
public final class ChildWriter {

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final PodSettings pods;
    private final TenantNamespaces tenants;
    private final LinkSecret linkSecret;
    private final Optional<ProxyLocator> egress;
    private final Supplier<NetworkProbe> probe;
    private final String seatKeys;

    /** With pods that do not try whether their policies hold. */
    public ChildWriter(
            KubernetesClient client,
            PodSettings pods,
            TenantNamespaces tenants,
            LinkSecret linkSecret,
            Optional<ProxyLocator> egress) {
        this(client, pods, tenants, linkSecret, egress, () -> NetworkProbe.NONE);
    }

    /**
     * @param egress empty if the installation has no egress proxy
     * @param probe what each new pod tries
     */
    public ChildWriter(
            KubernetesClient client,
            PodSettings pods,
            TenantNamespaces tenants,
            LinkSecret linkSecret,
            Optional<ProxyLocator> egress,
            Supplier<NetworkProbe> probe) {
        this.client = client;
        this.pods = pods;
        this.tenants = tenants;
        this.linkSecret = linkSecret;
        this.egress = egress;
        this.probe = probe;
        seatKeys = SeatPod.keys(linkSecret, egress.map(ProxyLocator::secret));
    }

    /** What a seat that is made now is made with. */
    public SeatPod.Making making() {
        return new SeatPod.Making(pods, egress.map(ProxyLocator::address), probe.get(), seatKeys);
    }

    /** The keys of a pod, and its way to the egress proxy. */
    Secret keysOf(ObjectMeta metadata, PodSubject subject) {
        return PodSecret.desired(metadata, subject.linkKeys(linkSecret), proxy(subject));
    }

    /** What became of the attempt to make a pod: exactly one of the two is present. */
    public record PodResult(Optional<Pod> pod, Optional<PodRefusal> refusal) {}

    /**
     * Isolates the pods of a namespace; empty if another replica did so at the same time. In a namespace that the chart did
     * not prepare, it creates the sandboxes' service account too.
     */
    public Optional<NetworkPolicy> isolateNamespace(String namespace, Optional<NetworkPolicy> present) {
        if (present.isEmpty() && !tenants.names(namespace)) {
            createUnlessPresent(pods.account().desired(namespace));
        }
        return shared(() -> NamespacePolicy.desired(namespace), present);
    }

    /**
     * Has a namespace's ConfigMap hold the authorities that its sandboxes trust, if the installation has any of its own;
     * empty if there was nothing to do, or another writer did it at the same time.
     */
    public Optional<ConfigMap> trust(String namespace, Optional<ConfigMap> present) {
        Optional<TrustedAuthorities> authorities = pods.authorities();
        if (authorities.isEmpty() || present.filter(authorities.get()::areIn).isPresent()) {
            return Optional.empty();
        }
        ConfigMap desired = authorities.get().desired(namespace);
        return present.isEmpty() ? createUnlessPresent(desired) : replaced(desired, present.get());
    }

    /** Empty if another writer was faster; the watch delivers its version. */
    private <R extends HasMetadata> Optional<R> replaced(R desired, R present) {
        desired.getMetadata().setResourceVersion(present.getMetadata().getResourceVersion());
        try {
            return Optional.of(client.resource(desired).update());
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT && e.getCode() != NOT_FOUND) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /**
     * Lets all sandboxes of a namespace do what each of them needs; empty if there was nothing to do, or another
     * writer did it at the same time.
     */
    public Optional<NetworkPolicy> open(String namespace, Optional<NetworkPolicy> present) {
        return shared(() -> access(namespace), present);
    }

    /**
     * Makes the sandbox's policy, or restores it if it was changed; empty if there was nothing to do. It has none as long
     * as the namespace's is enough.
     *
     * @param access the namespace's as it was before it was seen to
     */
    public Optional<NetworkPolicy> isolate(
            Sandbox sandbox, Optional<NetworkPolicy> present, Optional<NetworkPolicy> access) {
        NetworkPolicy desired = SandboxNetworkPolicy.desired(sandbox, tenants.own(), pods.egress());
        NetworkPolicy all = access.filter(found -> !NamespaceAccess.isOurs(found))
                .orElseGet(() -> access(sandbox.getMetadata().getNamespace()));
        return present.isEmpty() && NamespaceAccess.grants(all, desired) ? Optional.empty() : made(desired, present);
    }

    private NetworkPolicy access(String namespace) {
        return NamespaceAccess.desired(namespace, tenants.own(), pods.egress());
    }

    /** A policy of a namespace may have been made by others, and then stays as it is. */
    private Optional<NetworkPolicy> shared(Supplier<NetworkPolicy> desired, Optional<NetworkPolicy> present) {
        return present.filter(found -> !NamespaceAccess.isOurs(found)).isPresent()
                ? Optional.empty()
                : made(desired.get(), present);
    }

    private Optional<NetworkPolicy> made(NetworkPolicy desired, Optional<NetworkPolicy> present) {
        if (present.isEmpty()) {
            return createUnlessPresent(desired);
        }
        return present.get().getSpec().equals(desired.getSpec()) ? Optional.empty() : replaced(desired, present.get());
    }

    /**
     * The pod of an incarnation as it would be made now, over the claim of its workspace if it has one.
     *
     * @param lost see {@link SandboxContainer#after}
     * @param secrets what the pod mounts of Secrets for tool servers
     */
    public Pod desired(
            Sandbox sandbox,
            int incarnation,
            Optional<String> lost,
            Optional<PersistentVolumeClaim> workspace,
            SecretFiles secrets) {
        Pod first = secrets.mountedIn(SandboxPod.desired(
                sandbox, incarnation, pods, workspace, proxy(subject(sandbox, incarnation)), probe.get()));
        return lost.map(why -> SandboxContainer.after(first, why)).orElse(first);
    }

    /** Makes the keys and the pod of an incarnation. */
    public PodResult start(Sandbox sandbox, int incarnation, Pod desired) {
        try {
            renew(keys(sandbox, incarnation), desired);
            return made(desired)
                    .or(() -> Optional.ofNullable(client.resource(desired).get()))
                    .filter(pod -> ChildMetadata.owns(sandbox, pod))
                    .map(pod -> new PodResult(Optional.of(pod), Optional.empty()))
                    .orElseGet(() -> refused(
                            Reason.POD_REFUSED,
                            "a pod of this name exists that does not belong to the sandbox; delete it"));
        } catch (KubernetesClientException e) {
            if (!ApiErrors.isRefusal(e)) {
                throw e;
            }
            delete(keysOf(sandbox, incarnation));
            return refused(ApiErrors.isQuota(e) ? Reason.QUOTA_EXCEEDED : Reason.POD_REFUSED, ApiErrors.of(e));
        }
    }

    /** Creates the keys of an existing pod again if they were deleted: those of its seat, if it was one. */
    public void giveKeys(Sandbox sandbox, int incarnation, Pod pod) {
        createUnlessPresent(ClaimedPod.seat(pod)
                .map(seat -> keysOf(SeatPod.ofSecret(pod), SeatPod.subject(seat)))
                .orElseGet(() -> keys(sandbox, incarnation)));
    }

    private Optional<ProxyAccess> proxy(PodSubject subject) {
        return egress.map(locator -> locator.of(subject.id()));
    }

    private Secret keys(Sandbox sandbox, int incarnation) {
        return keysOf(ChildMetadata.ofIncarnation(sandbox, incarnation), subject(sandbox, incarnation));
    }

    private static PodSubject subject(Sandbox sandbox, int incarnation) {
        return SandboxPod.subject(sandbox, incarnation);
    }

    /** Enough of the Secret to delete it. */
    private static Secret keysOf(Sandbox sandbox, int incarnation) {
        return PodSecret.named(
                sandbox.getMetadata().getNamespace(),
                subject(sandbox, incarnation).name());
    }

    /**
     * What an attempt left that ended half-way may be of a secret, or of a proxy's address, that was replaced since; and
     * the operator may not read it. Those of a pod that is there, which the cache does not show yet, stay: its node reads them now.
     */
    private void renew(Secret keys, Pod pod) {
        if (createUnlessPresent(keys).isEmpty() && client.resource(pod).get() == null) {
            delete(keys);
            createUnlessPresent(keys);
        }
    }

    /**
     * The new pod; empty if there is one of that name. In a namespace that the chart did not prepare, a user may have
     * deleted the account, without which the API server would refuse every pod.
     */
    Optional<Pod> made(Pod desired) {
        try {
            return createUnlessPresent(desired);
        } catch (KubernetesClientException e) {
            String namespace = desired.getMetadata().getNamespace();
            if (tenants.names(namespace)
                    || !ApiErrors.lacksAccount(e, pods.account().name())) {
                throw e;
            }
            createUnlessPresent(pods.account().desired(namespace));
            return createUnlessPresent(desired);
        }
    }

    /** Ends an incarnation: its pod, if it still lives, and then the keys that nothing uses any more. */
    public void end(Sandbox sandbox, int incarnation, Optional<Pod> livePod) {
        livePod.ifPresent(pod -> delete(pod));
        // Garbage collection would take those of a seat too, but not before the pod is gone.
        livePod.filter(pod -> ClaimedPod.seat(pod).isPresent()).ifPresent(pod -> delete(keysOf(pod)));
        if (incarnation > 0) {
            delete(keysOf(sandbox, incarnation));
        }
    }

    /** Ends a pod that a sandbox has besides the one that counts, with its keys. */
    public void endStray(Pod stray) {
        delete(stray);
        delete(keysOf(stray));
    }

    private static Secret keysOf(Pod pod) {
        return PodSecret.named(
                pod.getMetadata().getNamespace(), pod.getMetadata().getName());
    }

    /** Tells the node a shorter maximum lifetime of a pod; empty if the pod is gone. */
    public Optional<Pod> shorten(Sandbox sandbox, Pod pod, Duration age) {
        try {
            return Optional.of(
                    client.resource(pod).patch(MERGE, Serialization.asJson(SandboxPod.shorter(sandbox, age))));
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /** Deletes the sandbox unless it was changed since it was read; then a later round decides anew. */
    public void delete(Sandbox sandbox) {
        try {
            client.resource(sandbox)
                    .lockResourceVersion(sandbox.getMetadata().getResourceVersion())
                    .delete();
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT && e.getCode() != NOT_FOUND) {
                throw e;
            }
        }
    }

    void delete(HasMetadata child) {
        try {
            client.resource(child).delete();
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND) {
                throw e;
            }
        }
    }

    <R extends HasMetadata> Optional<R> createUnlessPresent(R desired) {
        try {
            return Optional.of(client.resource(desired).create());
        } catch (KubernetesClientException e) {
            if (exists(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** A quota that changes at the same moment is a conflict too (409), and then nothing was made. */
    private static boolean exists(KubernetesClientException e) {
        return e.getCode() == CONFLICT
                && e.getStatus() != null
                && "AlreadyExists".equals(e.getStatus().getReason());
    }

    static PodResult refused(Reason reason, String why) {
        return new PodResult(
                Optional.empty(), Optional.of(new PodRefusal(reason, "The API server refused the pod: " + why)));
    }
}
