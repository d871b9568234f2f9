package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** A call that is still under way, and what it has printed so far. */
public final class StreamedCall {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<ProgressNotification> progress = new CopyOnWriteArrayList<>();
    private CompletableFuture<Answer> answer = new CompletableFuture<>();

    public void answeredBy(CompletableFuture<Answer> coming) {
        answer = coming;
    }

    public void progressed(ProgressNotification notification) {
        progress.add(notification);
    }

    public List<ProgressNotification> progress() {
        return List.copyOf(progress);
    }

    /** All chunks so far, by their place in the output: the SDK hands notifications over in parallel. */
    public String output() {
        return progress.stream()
                .sorted(Comparator.comparingDouble(ProgressNotification::progress))
                .map(ProgressNotification::message)
                .collect(Collectors.joining());
    }

    public boolean isAnswered() {
        return answer.isDone();
    }

    /** Waits until the output so far contains the text; fails at once if the call ends before. */
    public void awaitOutput(String text) {
        await("output containing '" + text + "'")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> output().contains(text) || answer.isDone());
        assertThat(output()).as("output before the call ended").contains(text);
    }

    public Answer answer() {
        try {
            return answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("no answer; output so far: " + output(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
