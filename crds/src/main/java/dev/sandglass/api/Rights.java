package dev.sandglass.api;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Tells apart the two things that the API server calls forbidden (403): an order that is against a rule, such as a quota or
 * an admission policy, and one that the caller has no right to give. The second is not the fault of a sandbox's user. It
 * shows when an installation is incomplete, and for a moment whenever an API server starts, before it has read the roles.
 */
public final class Rights {

    /**
     * How the API server begins, for resources and for paths (k8s.io/apiserver, endpoints/handlers/responsewriters). What
     * a rule says may quote anything, though not at the beginning.
     */
    private static final Pattern DENIED =
            Pattern.compile("(\\S+ (\"[^\"]*\" )?is )?forbidden: User \"[^\"]*\" cannot ");

    private Rights() {}

    /** Whether the order was refused because the caller lacks the right to give it. */
    public static boolean lackedBy(KubernetesClientException refusal) {
        return refusal.getCode() == HttpURLConnection.HTTP_FORBIDDEN
                && Optional.ofNullable(refusal.getStatus())
                        .map(status -> status.getMessage())
                        .filter(words -> DENIED.matcher(words).lookingAt())
                        .isPresent();
    }
}
