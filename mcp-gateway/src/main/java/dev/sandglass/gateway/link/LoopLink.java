package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A target's door for other threads: encodes on the caller's, hands on to the links' thread. */
final class LoopLink implements Link {

    private final LinkLoop client;
    private final LinkTarget target;

    LoopLink(LinkLoop client, LinkTarget target) {
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
    public void release() {
        client.runOnOwner(() -> client.connections().closeUnused(target));
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
        Later later = new Later(action);
        client.runOnOwner(() -> later.begin(delay));
        return later;
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
        client.runOnOwner(() -> {
            if (client.isClosed()) {
                pending.fail(new LinkException(Kind.CLOSED, "The gateway is shutting down"));
                return;
            }
            Connection connection = route.choose();
            if (connection == null) {
                pending.fail(new LinkException(Kind.OVERLOADED, "Too many readers of this execution"));
            } else {
                connection.submit(pending, timeout);
            }
        });
        return pending.answer();
    }

    /** Chooses a connection, on the links' thread. */
    private interface Route {
        @Nullable
        Connection choose();
    }

    /**
     * Something to do later. Who closes it, on whatever thread, lets go of the action at once: an execution's whole output
     * may hang on it, and the time may be far away.
     */
    private final class Later implements Subscription {
        private final AtomicReference<@Nullable Runnable> action;
        // Links' thread only.
        private @Nullable Subscription timer;

        private Later(Runnable action) {
            this.action = new AtomicReference<>(action);
        }

        void begin(Duration delay) {
            if (action.get() != null) {
                timer = client.after(delay.toNanos(), this::run);
            }
        }

        @Override
        public void close() {
            if (action.getAndSet(null) != null) {
                client.runOnOwner(this::leave);
            }
        }

        private void run() {
            Runnable due = action.getAndSet(null);
            if (due != null) {
                due.run();
            }
        }

        private void leave() {
            if (timer != null) {
                timer.close();
            }
        }
    }
}
