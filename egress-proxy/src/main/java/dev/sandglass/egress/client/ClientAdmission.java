package dev.sandglass.egress.client;

import dev.sandglass.api.egress.IpAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Who a connection comes from: its address says it, and a credential must not say otherwise.
 *
 * <p>Code may ask before the watch has told this proxy of the code's pod: pod and proxy hear of the new address from the
 * API server by different ways. So an unknown client waits a little, and is refused only then. A pod that a pool made is known
 * before any code runs in it; what it asks for waits for its claim alone ({@link ClaimWaits}).
 */
public final class ClientAdmission {

    /** What came of it. */
    public sealed interface Answer {

        /** It comes from that sandbox. */
        record Known(Client client) implements Answer {}

        /** Not known yet, since the caches are not filled. */
        record NotYet() implements Answer {}

        /**
         * It comes from no client that may use the proxy.
         *
         * @param why in words
         * @param mayBeNew whether it may be a sandbox of which the watch has not told yet
         */
        record Unknown(String why, boolean mayBeNew) implements Answer {}
    }

    /**
     * A question that is not answered yet.
     *
     * @param deadline of {@link System#nanoTime}
     */
    private record Question(
            IpAddress source,
            Optional<String> credential,
            ScheduledExecutorService loop,
            long deadline,
            CompletableFuture<Answer> to) {

        private boolean isLate() {
            return System.nanoTime() - deadline >= 0;
        }

        private @Nullable Void failed(Throwable bug) {
            to.completeExceptionally(bug);
            return null;
        }
    }

    /** How long an unknown client waits for the watch; HTTP and DNS clients commonly wait longer for an answer. */
    public static final Duration PATIENCE = Duration.ofSeconds(4);

    private static final long AGAIN_MILLIS = 20;

    private final Clients clients;
    private final Credentials credentials;
    private final ClaimWaits claims;
    private final boolean credentialRequired;
    private final Duration patience;

    /**
     * Admission by address and credential.
     *
     * @param claims of the same clients
     * @param credentialRequired whether a request without a credential is refused
     * @param patience how long an unknown client waits for the watch
     */
    public ClientAdmission(
            Clients clients,
            Credentials credentials,
            ClaimWaits claims,
            boolean credentialRequired,
            Duration patience) {
        this.clients = clients;
        this.credentials = credentials;
        this.claims = claims;
        this.credentialRequired = credentialRequired;
        this.patience = patience;
    }

    /**
     * Who the sandbox is behind a request from that address, with that {@code Proxy-Authorization}. The answer is there
     * at once, unless the address or the credential is no sandbox's that is known here: then it comes within the patience.
     *
     * @param loop asks again, and completes an answer that comes later
     */
    public CompletionStage<Answer> ask(IpAddress source, Optional<String> credential, ScheduledExecutorService loop) {
        var answer = new CompletableFuture<Answer>();
        ask(new Question(source, credential, loop, System.nanoTime() + patience.toNanos(), answer));
        return answer;
    }

    private void ask(Question question) {
        Answer answer = of(question.source(), question.credential());
        boolean later = answer instanceof Answer.Unknown unknown && unknown.mayBeNew() && !question.isLate();
        if (later && clients.awaitsClaim(question.source())) {
            claims.at(question.source())
                    .thenAcceptAsync(seen -> claimed(seen, question, answer), question.loop())
                    .exceptionally(question::failed);
        } else if (later) {
            var _ = question.loop().schedule(() -> ask(question), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } else {
            question.to().complete(answer);
        }
    }

    private void claimed(boolean seen, Question question, Answer unknown) {
        if (seen) {
            ask(question);
        } else {
            question.to().complete(unknown);
        }
    }

    private Answer of(IpAddress source, Optional<String> credential) {
        if (!clients.isSynced()) {
            return new Answer.NotYet();
        }
        Optional<Client> client = clients.at(source);
        if (client.isEmpty()) {
            return new Answer.Unknown("the proxy knows no running sandbox at this address", true);
        }
        if (credential.isEmpty()) {
            return credentialRequired
                    ? new Answer.Unknown("the credential of the proxy variables is required", false)
                    : new Answer.Known(client.get());
        }
        boolean same = BasicCredential.parse(credential.get())
                .filter(shown -> credentials.belongTo(client.get(), shown.user(), shown.password()))
                .isPresent();
        return same
                ? new Answer.Known(client.get())
                : new Answer.Unknown("the credential is not that of the sandbox at this address", true);
    }
}
