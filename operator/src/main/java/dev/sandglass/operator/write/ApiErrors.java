package dev.sandglass.operator.write;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Rights;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/** What the API server says when it refuses something. */
public final class ApiErrors {

    private static final int FORBIDDEN = 403;
    private static final int INVALID = 422;

    /** A sentence or two; what is longer is a client's account of all that it asked and got. */
    private static final int MAX_CHARS = 500;

    private ApiErrors() {}

    /** Whether the object is against a rule. Where the operator lacks a right, the object is not to blame. */
    static boolean isRefusal(KubernetesClientException answer) {
        return answer.getCode() == INVALID || (answer.getCode() == FORBIDDEN && !Rights.lackedBy(answer));
    }

    public static String of(KubernetesClientException refusal) {
        return Optional.ofNullable(refusal.getStatus())
                .map(status -> status.getMessage())
                .or(() -> Optional.ofNullable(refusal.getMessage()))
                .orElse("no reason was given");
    }

    /**
     * What made the operator fail, on one line: the words of the API server alone, if it was it that refused. What is
     * thrown may be wrapped, whose message would be all that the client knows of its request.
     */
    public static String briefly(Throwable failure) {
        List<Throwable> causes =
                Stream.iterate(failure, Objects::nonNull, Throwable::getCause).toList();
        String words = causes.stream()
                .filter(KubernetesClientException.class::isInstance)
                .map(cause -> of((KubernetesClientException) cause))
                .findFirst()
                .or(() -> Optional.ofNullable(causes.getLast().getMessage()))
                .orElseGet(() -> causes.getLast().getClass().getSimpleName());
        return ForeignText.line(words.replaceAll("\\s+", " "), MAX_CHARS);
    }

    /** Whether there is no service account of that name for a pod to run as. */
    static boolean lacksAccount(KubernetesClientException refusal, String account) {
        return isRefusal(refusal) && of(refusal).contains("serviceaccount \"" + account + "\" not found");
    }

    public static boolean isQuota(KubernetesClientException refusal) {
        return of(refusal).contains("exceeded quota");
    }
}
