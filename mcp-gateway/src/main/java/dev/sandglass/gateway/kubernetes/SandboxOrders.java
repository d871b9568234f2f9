package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Sandbox;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.WorkspaceEnd;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Writes to the API server. Blocks; called through {@link ApiCalls} only. */
final class SandboxOrders {

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

    private static final int ATTEMPTS = 5;

    private final KubernetesClient client;
    private final Predicate<Sandbox> known;

    /**
     * @param known which resources are written here; the others are as if they were not there
     */
    SandboxOrders(KubernetesClient client, Predicate<Sandbox> known) {
        this.client = client;
        this.known = known;
    }

    /**
     * What a start wrote.
     *
     * @param resource as it stands afterwards
     * @param isNew it was created by this start
     */
    record Started(Sandbox resource, boolean isNew) {}

    /**
     * Creates the resource, or changes the one that is there; others may create and delete it meanwhile.
     *
     * @param unseen whether none of that name is known: it is then created without another look, which saves a round
     */
    Started start(SandboxRef ref, SandboxConfig config, String createdBy, boolean unseen) {
        Optional<Started> first = unseen ? createdUnseen(ref, config, createdBy) : Optional.empty();
        return first.orElseGet(() -> start(ref, config, createdBy));
    }

    /** Empty if there is one; a quota that is used up, say, is no reason against one that is there. */
    private Optional<Started> createdUnseen(SandboxRef ref, SandboxConfig config, String createdBy) {
        try {
            return created(ref, config, createdBy);
        } catch (KubernetesClientException problem) {
            if (!ApiCalls.isRefusal(problem) || at(ref).get() == null) {
                throw problem;
            }
            return Optional.empty();
        }
    }

    /** The same after a look at what is there. */
    Started start(SandboxRef ref, SandboxConfig config, String createdBy) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Sandbox present = at(ref).get();
            if (present != null && !known.test(present)) {
                throw SandboxProblem.Refused.reserved(ref);
            }
            Optional<Started> started = present == null ? created(ref, config, createdBy) : changed(present, config);
            if (started.isPresent()) {
                return started.get();
            }
        }
        throw new SandboxProblem.Refused(
                "Sandbox '%s' is created and deleted by others all the time.".formatted(ref.givenName()),
                NextStep.Plain.START_AGAIN);
    }

    /** Empty if somebody else was faster. */
    private Optional<Started> created(SandboxRef ref, SandboxConfig config, String createdBy) {
        try {
            Sandbox created = client.resource(SandboxWrites.created(ref, config, createdBy))
                    .create();
            return Optional.of(new Started(created, true));
        } catch (KubernetesClientException problem) {
            if (!ApiCalls.isConflict(problem)) {
                throw problem;
            }
            return Optional.empty();
        }
    }

    /** Empty if it is gone by now. */
    Optional<Started> changed(Sandbox present, SandboxConfig config) {
        Map<String, Object> changes = SandboxWrites.changes(present.wanted(), config);
        if (changes.isEmpty()) {
            return Optional.of(new Started(present, false));
        }
        try {
            return Optional.of(new Started(client.resource(present).patch(MERGE, json(changes)), false));
        } catch (KubernetesClientException problem) {
            if (problem.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
                throw problem;
            }
            return Optional.empty();
        }
    }

    /** The resource as the API server has it now; empty if there is none. */
    Optional<Sandbox> read(SandboxRef ref) {
        return Optional.ofNullable(at(ref).get()).filter(known);
    }

    /** The one that a resumption wakes; others may have deleted or stopped it since it was found asleep. */
    Sandbox sleeper(SandboxRef ref) {
        Sandbox present = present(ref);
        if (present.wanted().suspended()) {
            throw SandboxProblem.NotRunning.stopped(ref);
        }
        return present;
    }

    /** Changes fields of the spec. */
    Sandbox patch(SandboxRef ref, Map<String, Object> spec) {
        if (ref.isReserved()) {
            // Another look for these alone: it may be one that is not to be known.
            present(ref);
        }
        Sandbox after = at(ref).patch(MERGE, json(spec));
        if (after == null) {
            throw notFound(ref);
        }
        return after;
    }

    private static String json(Map<String, Object> spec) {
        return Serialization.asJson(Map.of("spec", spec));
    }

    /**
     * What a deletion ended.
     *
     * @param uid of the resource
     * @param deletion what is told of it
     */
    record Deleted(String uid, Deletion deletion) {}

    /** The finalizers that would keep the resource when it is deleted. */
    List<String> holders(SandboxRef ref) {
        return present(ref).getMetadata().getFinalizers();
    }

    /** Deletes the resource. */
    Deleted delete(SandboxRef ref) {
        Sandbox present = present(ref);
        client.resource(present).delete();
        return new Deleted(
                present.getMetadata().getUid(),
                new Deletion(
                        WorkspaceEnd.of(present.wanted().workspace()),
                        present.getMetadata().getFinalizers()));
    }

    private Sandbox present(SandboxRef ref) {
        return read(ref).orElseThrow(() -> notFound(ref));
    }

    /**
     * Deletes what a start created, as long as it is wished for as that start wrote it.
     *
     * @return whether it is deleted
     */
    boolean undo(SandboxRef ref, Sandbox written) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Sandbox present = at(ref).get();
            if (present == null || !isWishedForAs(written, present)) {
                return false;
            }
            try {
                client.resource(present).lockResourceVersion().delete();
                return true;
            } catch (KubernetesClientException problem) {
                // Its status was written in between, or its spec was: the next look tells.
                if (!ApiCalls.isConflict(problem)) {
                    throw problem;
                }
            }
        }
        return false;
    }

    private static boolean isWishedForAs(Sandbox written, Sandbox present) {
        return written.getMetadata().getUid().equals(present.getMetadata().getUid())
                && SandboxStateReader.generationOf(written) == SandboxStateReader.generationOf(present);
    }

    private Resource<Sandbox> at(SandboxRef ref) {
        return client.resources(Sandbox.class).inNamespace(ref.namespace()).withName(ref.name());
    }

    private static SandboxProblem notFound(SandboxRef ref) {
        return new SandboxProblem.NotFound(ref.givenName(), ref.tenant());
    }
}
