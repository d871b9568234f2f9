package dev.sandglass.operator;

import dev.sandglass.api.Rights;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;

/** What the API server says when it refuses something. */
final class ApiWords {

    private static final int FORBIDDEN = 403;
    private static final int INVALID = 422;

    private ApiWords() {}

    /** Whether the object is against a rule. Where the operator lacks a right, the object is not to blame. */
    static boolean isRefusal(KubernetesClientException answer) {
        return answer.getCode() == INVALID || (answer.getCode() == FORBIDDEN && !Rights.lackedBy(answer));
    }

    static String of(KubernetesClientException refusal) {
        return Optional.ofNullable(refusal.getStatus())
                .map(status -> status.getMessage())
                .or(() -> Optional.ofNullable(refusal.getMessage()))
                .orElse("no reason was given");
    }

    /** Whether there is no service account of that name for a pod to run as. */
    static boolean lacksAccount(KubernetesClientException refusal, String account) {
        return isRefusal(refusal) && of(refusal).contains("serviceaccount \"" + account + "\" not found");
    }

    static boolean isQuota(KubernetesClientException refusal) {
        return of(refusal).contains("exceeded quota");
    }
}
