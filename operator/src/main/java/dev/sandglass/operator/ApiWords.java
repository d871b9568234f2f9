package dev.sandglass.operator;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Optional;

/** What the API server says when it refuses something. */
final class ApiWords {

    private ApiWords() {}

    static String of(KubernetesClientException refusal) {
        return Optional.ofNullable(refusal.getStatus())
                .map(status -> status.getMessage())
                .or(() -> Optional.ofNullable(refusal.getMessage()))
                .orElse("no reason was given");
    }

    static boolean isQuota(KubernetesClientException refusal) {
        return of(refusal).contains("exceeded quota");
    }
}
