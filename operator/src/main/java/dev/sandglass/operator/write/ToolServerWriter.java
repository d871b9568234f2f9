package dev.sandglass.operator.write;

import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;

/** Makes and mends the Sandboxes of tool servers. Each write can be repeated. */
public final class ToolServerWriter {

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;

    public ToolServerWriter(KubernetesClient client) {
        this.client = client;
    }

    /**
     * What became of an attempt to write.
     *
     * @param sandbox the one that has the name now, by whatever author; empty if there is none
     * @param refusal the API server's answer, if the object is against a rule
     * @param written whether the Sandbox is what this attempt wrote
     */
    public record Result(Optional<Sandbox> sandbox, Optional<String> refusal, boolean written) {

        static Result written(Sandbox sandbox) {
            return new Result(Optional.of(sandbox), Optional.empty(), true);
        }

        static Result found(Sandbox sandbox) {
            return new Result(Optional.of(sandbox), Optional.empty(), false);
        }
    }

    /** Makes a Sandbox, or finds the one that has its name. */
    public Result make(Sandbox desired) {
        try {
            return Result.written(client.resource(desired).create());
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT) {
                return refused(e, Optional.empty());
            }
            Sandbox found = client.resource(desired).get();
            if (found == null) {
                // A quota that changes at the same moment is a conflict too.
                throw e;
            }
            return Result.found(found);
        }
    }

    /** Replaces a Sandbox. One that was changed or deleted meanwhile comes by its watch. */
    public Result mend(Sandbox mended, Sandbox present) {
        try {
            return Result.written(client.resource(mended).update());
        } catch (KubernetesClientException e) {
            return e.getCode() == CONFLICT || e.getCode() == NOT_FOUND
                    ? Result.found(present)
                    : refused(e, Optional.of(present));
        }
    }

    private static Result refused(KubernetesClientException e, Optional<Sandbox> present) {
        if (!ApiErrors.isRefusal(e)) {
            throw e;
        }
        return new Result(present, Optional.of(ApiErrors.of(e)), false);
    }
}
