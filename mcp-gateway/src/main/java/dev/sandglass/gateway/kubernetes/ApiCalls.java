package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Rights;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusDetails;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * The fence around the Kubernetes client, whose calls block: each runs on a virtual thread of its own, and whatever it
 * throws becomes a {@link SandboxProblem}.
 */
final class ApiCalls implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApiCalls.class);
    private static final int MAX_DETAIL_CHARS = 500;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int MAX_RETRIES = 12;
    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);

    /** How the API server begins what a ValidatingAdmissionPolicy says. */
    private static final String POLICY_SAYS = " denied request: ";

    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Scheduler scheduler = Schedulers.fromExecutorService(threads, "kubernetes-api");

    /** Makes a call about one sandbox when subscribed to. */
    <T> Mono<T> about(SandboxRef ref, Callable<T> call) {
        return Mono.fromCallable(call)
                .subscribeOn(scheduler)
                .onErrorMap(KubernetesClientException.class, problem -> problem(ref, problem));
    }

    /** The same about an MCP server of a sandbox, by its name. */
    <T> Mono<T> about(SandboxRef ref, String server, Callable<T> call) {
        return Mono.fromCallable(call)
                .subscribeOn(scheduler)
                .onErrorMap(
                        KubernetesClientException.class,
                        problem -> isRefusal(problem) || problem.getCode() == HttpURLConnection.HTTP_NOT_FOUND
                                ? new SandboxProblem.Refused(
                                        "The cluster refused MCP server '%s': %s".formatted(server, detail(problem)))
                                : problem(ref, problem));
    }

    /** Makes a call whose failure is for the subscriber to deal with. */
    <T> Mono<T> plainly(Callable<T> call) {
        return Mono.fromCallable(call).subscribeOn(scheduler);
    }

    /**
     * Does something in the background that nobody waits for. What the API server may take in a moment is tried again for
     * some minutes, in which it could be restarted; other failures are logged.
     *
     * @param givenUp called after a failure that is not followed by another attempt
     */
    void later(Runnable call, Runnable givenUp) {
        later(Duration.ZERO, call, givenUp);
    }

    /**
     * The same after a while.
     *
     * @param wait until the first attempt
     */
    void later(Duration wait, Runnable call, Runnable givenUp) {
        Mono.fromRunnable(call)
                .subscribeOn(scheduler)
                .delaySubscription(wait)
                .retryWhen(Retry.backoff(MAX_RETRIES, FIRST_RETRY)
                        .maxBackoff(LONGEST_RETRY)
                        .filter(ApiCalls::mayPass)
                        .onRetryExhaustedThrow((spec, last) -> last.failure()))
                .subscribe(nothing -> {}, problem -> {
                    givenUp.run();
                    LOG.atWarn()
                            .addKeyValue(
                                    "cause",
                                    problem instanceof KubernetesClientException known ? detail(known) : problem)
                            .log("Background call to the API server failed");
                });
    }

    private static boolean mayPass(Throwable problem) {
        return problem instanceof KubernetesClientException known
                && (known.getCode() == 0
                        || known.getCode() == HttpURLConnection.HTTP_CONFLICT
                        || known.getCode() == TOO_MANY_REQUESTS
                        || known.getCode() >= HttpURLConnection.HTTP_INTERNAL_ERROR);
    }

    static SandboxProblem problem(SandboxRef ref, KubernetesClientException problem) {
        int code = problem.getCode();
        if (code == HttpURLConnection.HTTP_NOT_FOUND) {
            return missing(ref, problem);
        }
        if (isRefusal(problem)) {
            return new SandboxProblem.Refused(
                    "The cluster refused sandbox '%s': %s".formatted(ref.givenName(), detail(problem)));
        }
        LOG.atWarn()
                .addKeyValue("namespace", ref.namespace())
                .addKeyValue("sandbox", ref.name())
                .addKeyValue("code", code)
                .addKeyValue("cause", detail(problem))
                .log("The API server did not take an order");
        return new SandboxProblem.Unavailable(whyNot(problem), problem);
    }

    static boolean isRefusal(KubernetesClientException problem) {
        int code = problem.getCode();
        return code >= HttpURLConnection.HTTP_BAD_REQUEST
                && code < HttpURLConnection.HTTP_INTERNAL_ERROR
                && code != HttpURLConnection.HTTP_UNAUTHORIZED
                && code != HttpURLConnection.HTTP_CONFLICT
                && code != TOO_MANY_REQUESTS
                && !Rights.lackedBy(problem);
    }

    /** What is not there: the sandbox, the tenant's namespace, or, where nothing is named, the resource definition. */
    private static SandboxProblem missing(SandboxRef ref, KubernetesClientException problem) {
        Optional<String> kind = Optional.ofNullable(problem.getStatus())
                .map(Status::getDetails)
                .map(StatusDetails::getKind)
                .filter(name -> !name.isEmpty());
        if (kind.isEmpty()) {
            return new SandboxProblem.Refused(
                    "The cluster does not know the resource Sandbox: %s. Ask whoever runs this installation."
                            .formatted(detail(problem)));
        }
        return kind.get().equals("namespaces")
                ? new SandboxProblem.Refused(
                        "Namespace '%s' of tenant '%s' does not exist in the cluster. Ask whoever runs this installation."
                                .formatted(ref.namespace(), ref.tenant()))
                : new SandboxProblem.NotFound(ref.givenName(), ref.tenant());
    }

    private static String whyNot(KubernetesClientException problem) {
        if (Rights.lackedBy(problem)) {
            return "it does not grant Sandglass its rights, be it that it just started or that the installation is"
                    + " incomplete (" + detail(problem) + ")";
        }
        return problem.getCode() > 0
                ? "it answered with status " + problem.getCode()
                : "it cannot be reached (" + rootCause(problem) + ")";
    }

    private static String rootCause(Throwable problem) {
        Throwable cause = problem;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getMessage() == null
                ? cause.getClass().getSimpleName()
                : ForeignText.line(cause.getMessage(), MAX_DETAIL_CHARS);
    }

    static boolean isConflict(Throwable problem) {
        return problem instanceof KubernetesClientException known && known.getCode() == HttpURLConnection.HTTP_CONFLICT;
    }

    private static String detail(KubernetesClientException problem) {
        String text = Optional.ofNullable(problem.getStatus())
                .map(status -> status.getMessage())
                .or(() -> Optional.ofNullable(problem.getMessage()))
                .orElse("no reason given");
        // Which policy said it is the administrator's business; the rule itself is behind.
        int policy = text.indexOf(POLICY_SAYS);
        if (policy >= 0) {
            text = text.substring(policy + POLICY_SAYS.length());
        }
        return ForeignText.line(text, MAX_DETAIL_CHARS);
    }

    @Override
    public void close() {
        scheduler.dispose();
        threads.shutdownNow();
    }
}
