package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.LinkException.Kind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A target's door for other threads: encodes on the caller's, hands on to the links' thread. */
final class JeroMqLink implements Link {

    private final JeroMqLinkClient client;
    private final LinkTarget target;

    JeroMqLink(JeroMqLinkClient client, LinkTarget target) {
        this.client = client;
        this.target = target;
    }

    @Override
    public CompletableFuture<Answer> ask(Verb verb, Duration timeout) {
        return submit(verb, null, timeout, () -> client.connections().to(target));
    }

    @Override
    public CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader, Duration timeout) {
        Attachment attachment = new Attachment(verb.executionId(), reader, verb.from());
        return submit(verb, attachment, timeout, () -> client.connections().toFollow(target, verb.executionId()));
    }

    @Override
    public void unfollow(OutputReader reader) {
        client.runOnOwner(() -> client.connections().all(target).forEach(connection -> connection.unfollow(reader)));
    }

    @Override
    public Subscription events(Consumer<LinkEvent> listener) {
        client.execute(() -> client.connections().to(target).listen(listener));
        return () -> client.execute(
                () -> client.connections().all(target).forEach(connection -> connection.unlisten(listener)));
    }

    @Override
    public boolean isOpen() {
        return client.connections().isOpen(target);
    }

    @Override
    public void execute(Runnable action) {
        client.execute(action);
    }

    @Override
    public Subscription after(Duration delay, Runnable action) {
        AtomicBoolean closed = new AtomicBoolean();
        client.execute(() -> client.timers().after(delay.toNanos(), () -> {
            if (!closed.get()) {
                action.run();
            }
        }));
        return () -> closed.set(true);
    }

    private CompletableFuture<Answer> submit(
            Verb verb, @Nullable Attachment attachment, Duration timeout, Route route) {
        if (client.isClosed()) {
            return CompletableFuture.failedFuture(new LinkException(Kind.CLOSED, "The gateway is shutting down"));
        }
        Pending pending;
        try {
            pending = client.pending(verb, attachment);
        } catch (LinkException tooLarge) {
            CompletableFuture<Answer> refused = new CompletableFuture<>();
            client.execute(() -> refused.completeExceptionally(tooLarge));
            return refused;
        }
        client.execute(() -> {
            Connection connection = route.choose();
            if (connection == null) {
                pending.fail(new LinkException(Kind.OVERLOADED, "Too many readers of this execution"));
            } else {
                connection.submit(pending, timeout);
            }
        });
        if (client.isClosed()) {
            // Closed in between: nobody may be there any more to look into the queue.
            pending.fail(new LinkException(Kind.CLOSED, "The gateway is shutting down"));
        }
        return pending.answer();
    }

    /** Chooses a connection, on the links' thread. */
    private interface Route {
        @Nullable
        Connection choose();
    }
}
