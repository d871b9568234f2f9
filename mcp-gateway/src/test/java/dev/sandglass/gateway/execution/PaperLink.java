package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkEvent;
import dev.sandglass.gateway.link.OutputReader;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import tools.jackson.databind.json.JsonMapper;

/** A link without a network, whose clock is set by hand and whose far side tells what runs there. */
final class PaperLink implements Link {

    /** What it answers to a list. */
    List<String> executions = List.of();
    /** Whether nothing is answered. */
    boolean silent;
    /** Whether others use it. */
    boolean open;

    /** How often it was asked, and told to close. */
    int asked;

    int released;

    private int listeners;
    private final List<Timer> timers = new ArrayList<>();

    private record Timer(Duration delay, Runnable action) {}

    /** Whether it is kept open. */
    boolean isHeld() {
        return listeners > 0;
    }

    /** What was to be done after that delay is done. */
    void pass(Duration delay) {
        List<Timer> due =
                timers.stream().filter(timer -> timer.delay().equals(delay)).toList();
        timers.removeAll(due);
        due.forEach(timer -> timer.action().run());
    }

    @Override
    public CompletableFuture<Answer> ask(Verb verb, Duration timeout) {
        asked++;
        if (silent) {
            return CompletableFuture.failedFuture(new LinkException(LinkException.Kind.UNREACHABLE, "no connection"));
        }
        String list = "{\"kernels\":[],\"executions\":[" + String.join(",", executions) + "]}";
        return CompletableFuture.completedFuture(new Answer(JsonMapper.shared().readTree(list), Blob.EMPTY));
    }

    @Override
    public Subscription events(Consumer<LinkEvent> listener) {
        listeners++;
        return () -> listeners--;
    }

    @Override
    public Subscription after(Duration delay, Runnable action) {
        var timer = new Timer(delay, action);
        timers.add(timer);
        return () -> timers.remove(timer);
    }

    @Override
    public void release() {
        released++;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public CompletableFuture<Answer> follow(Verb.Following verb, OutputReader reader, Duration timeout) {
        throw new UnsupportedOperationException("output is not read");
    }

    @Override
    public void unfollow(OutputReader reader) {
        throw new UnsupportedOperationException("output is not read");
    }

    @Override
    public void execute(Runnable action) {
        action.run();
    }
}
