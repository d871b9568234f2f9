package dev.sandglass.operator.write;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.Volume;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.child.WorkspaceClaim;
import dev.sandglass.operator.pod.SecretFiles;
import dev.sandglass.operator.settings.SandboxUsers;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a pod needs of other people's objects, looked up right before the pod is made and at no other time; and the
 * claims of workspaces. It deletes nothing: files go with their sandbox, by garbage collection, or when a user deletes them.
 */
public final class Storage {

    private static final Logger LOG = LoggerFactory.getLogger(Storage.class);

    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final SandboxUsers users;

    public Storage(KubernetesClient client, SandboxUsers users) {
        this.client = client;
        this.users = users;
    }

    /** A workspace's claim, or why there is none: exactly one of the two is present. */
    public record ClaimResult(Optional<PersistentVolumeClaim> claim, Optional<PodRefusal> refusal) {}

    /**
     * Why a pod could not mount what its sandbox names, or what its tool server does; empty if all is there and may be
     * used. Whether a Secret has an entry, only the kubelet can tell.
     */
    public Optional<PodRefusal> missing(Sandbox sandbox, SecretFiles secrets) {
        return missing(sandbox).or(() -> secrets.keys().entrySet().stream()
                .flatMap(secret ->
                        missingSecret(
                                secret.getKey(),
                                secret.getValue(),
                                sandbox.getMetadata().getNamespace())
                                .stream())
                .findFirst()
                .map(why -> new PodRefusal(Reason.VOLUME_MISSING, why)));
    }

    private Optional<String> missingSecret(String name, SortedSet<String> keys, String namespace) {
        return missingSecret(name, namespace)
                .map(why -> why + ", of which the tool server needs the "
                        + (keys.size() == 1 ? "entry " : "entries ") + String.join(", ", keys)
                        + "; create it: kubectl create secret generic " + name + " --namespace " + namespace
                        + keys.stream()
                                .map(key -> " --from-file=" + key + "=FILE")
                                .collect(Collectors.joining())
                        + " (or --from-literal=KEY=VALUE)");
    }

    /** Why a pod could not mount what its sandbox names; empty if all is there and may be used. */
    Optional<PodRefusal> missing(Sandbox sandbox) {
        String namespace = sandbox.getMetadata().getNamespace();
        return sandbox.wanted().volumes().stream()
                .flatMap(volume ->
                        missing(volume, namespace)
                                .map(why -> "spec.volumes: volume '" + volume.name() + "': " + why)
                                .stream())
                .findFirst()
                .map(why -> new PodRefusal(Reason.VOLUME_MISSING, why));
    }

    private Optional<String> missing(Volume volume, String namespace) {
        if (volume.persistentVolumeClaim() != null) {
            return missingClaim(volume.persistentVolumeClaim().claimName(), namespace);
        }
        if (volume.configMap() != null) {
            return missingConfigMap(volume.configMap().name(), namespace);
        }
        return volume.secret() == null
                ? Optional.empty()
                : missingSecret(volume.secret().secretName(), namespace);
    }

    private Optional<String> missingClaim(String name, String namespace) {
        PersistentVolumeClaim claim = claim(name, namespace);
        if (claim == null) {
            return Optional.of("there is no PersistentVolumeClaim " + name + " in namespace " + namespace);
        }
        return claim.getMetadata().getDeletionTimestamp() == null
                ? Optional.empty()
                : Optional.of("PersistentVolumeClaim " + name + " is being deleted");
    }

    private Optional<String> missingConfigMap(String name, String namespace) {
        ConfigMap found =
                client.configMaps().inNamespace(namespace).withName(name).get();
        if (found == null) {
            return Optional.of("there is no ConfigMap " + name + " in namespace " + namespace);
        }
        Map<String, String> labels =
                Optional.ofNullable(found.getMetadata().getLabels()).orElse(Map.of());
        return "true".equals(labels.get(SandboxLabels.MOUNTABLE))
                ? Optional.empty()
                : Optional.of("ConfigMap " + name + " is not open to sandboxes; its owner can open it with the label "
                        + SandboxLabels.MOUNTABLE + "=true");
    }

    /**
     * The operator may not read Secrets. That one exists shows when another of its name is refused, and a dry run leaves
     * none behind; any other answer leaves it to the kubelet to find out.
     */
    private Optional<String> missingSecret(String name, String namespace) {
        try {
            client.resource(new SecretBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .withNamespace(namespace)
                            .endMetadata()
                            .build())
                    .dryRun()
                    .create();
            return Optional.of("there is no Secret " + name + " in namespace " + namespace);
        } catch (KubernetesClientException e) {
            if (e.getCode() >= 400 && e.getCode() < 500) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * The claim of a workspace: the one that is there if it may be taken, grown if need be, or a new one.
     *
     * @param known the claim as the cache has it
     */
    public ClaimResult workspace(Sandbox sandbox, Workspace workspace, Optional<PersistentVolumeClaim> known) {
        PersistentVolumeClaim made;
        try {
            made = known.isPresent() ? known.get() : create(sandbox, workspace);
        } catch (KubernetesClientException e) {
            if (!ApiErrors.isRefusal(e)) {
                throw e;
            }
            Reason reason = ApiErrors.isQuota(e) ? Reason.QUOTA_EXCEEDED : Reason.VOLUME_MISSING;
            return new ClaimResult(
                    Optional.empty(),
                    Optional.of(new PodRefusal(
                            reason, "The API server refused the claim of spec.workspace: " + ApiErrors.of(e))));
        }
        Optional<PodRefusal> problem =
                WorkspaceClaim.problem(sandbox, made).or(() -> WorkspaceClaim.otherClass(sandbox, made));
        return problem.isPresent()
                ? new ClaimResult(Optional.empty(), problem)
                : new ClaimResult(Optional.of(grown(workspace, made)), Optional.empty());
    }

    private PersistentVolumeClaim create(Sandbox sandbox, Workspace workspace) {
        try {
            return client.resource(WorkspaceClaim.desired(sandbox, workspace, users))
                    .create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT) {
                throw e;
            }
            PersistentVolumeClaim found =
                    claim(ChildNames.workspace(sandbox), sandbox.getMetadata().getNamespace());
            if (found == null) {
                throw e;
            }
            return found;
        }
    }

    private @Nullable PersistentVolumeClaim claim(String name, String namespace) {
        return client.persistentVolumeClaims()
                .inNamespace(namespace)
                .withName(name)
                .get();
    }

    /** The claim with the size that is wanted, or as it is if it may not grow. */
    public PersistentVolumeClaim grown(Workspace workspace, PersistentVolumeClaim claim) {
        return WorkspaceClaim.growth(workspace, claim)
                .map(change -> patched(claim, change))
                .orElse(claim);
    }

    /** The claim tied to its sandbox or let go, as the spec says now. */
    public PersistentVolumeClaim tied(Sandbox sandbox, Workspace workspace, PersistentVolumeClaim claim) {
        return WorkspaceClaim.tie(sandbox, workspace, claim)
                .map(change -> patched(claim, change))
                .orElse(claim);
    }

    private PersistentVolumeClaim patched(PersistentVolumeClaim claim, Map<String, Object> change) {
        try {
            return client.resource(claim).patch(PatchContext.of(PatchType.JSON_MERGE), Serialization.asJson(change));
        } catch (KubernetesClientException e) {
            if (!ApiErrors.isRefusal(e)) {
                throw e;
            }
            LOG.atWarn()
                    .addKeyValue("claim", claim.getMetadata().getName())
                    .addKeyValue("namespace", claim.getMetadata().getNamespace())
                    .addKeyValue("answer", ApiErrors.of(e))
                    .log("Claim could not be changed");
            return claim;
        }
    }
}
