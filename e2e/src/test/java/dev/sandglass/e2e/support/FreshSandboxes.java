package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Gives tests sandboxes of their own, under names nobody else uses, and deletes them after the test. */
public final class FreshSandboxes implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private static final String RUN = Integer.toString(new SecureRandom().nextInt(36 * 36 * 36, 36 * 36 * 36 * 36), 36);

    private final boolean keptBetweenTests;
    private final Deque<String> names = new ArrayDeque<>();
    private @Nullable Agent agent;
    private int count;

    /** Classes that run side by side share one small node: one waits until another's sandboxes are gone. */
    private static final Duration ROOM = Duration.ofMinutes(5);

    /** Answers of calls that found no pod: the node is full, or the start outlasted the call. */
    private static final List<String> WITHOUT_POD =
            List.of("No node has enough", "it is still starting", "is still being resumed");

    private FreshSandboxes(boolean keptBetweenTests) {
        this.keptBetweenTests = keptBetweenTests;
    }

    /** Deleted after each test. */
    public static FreshSandboxes perTest() {
        return new FreshSandboxes(false);
    }

    /** Deleted after the last test of the class. */
    public static FreshSandboxes perClass() {
        return new FreshSandboxes(true);
    }

    /** Who starts and deletes them; one for the whole class. */
    public Agent agent() {
        return Optional.ofNullable(agent).orElseThrow();
    }

    /** A name for a sandbox; whatever has it at the end is deleted. */
    public String name() {
        String name = "e2e-%s-%x-%d".formatted(RUN, System.identityHashCode(this), ++count);
        names.push(name);
        return name;
    }

    /** As {@link #name()}, with a name that is given. */
    public String named(String name) {
        names.push(name);
        return name;
    }

    /** A running sandbox with the installation's defaults. */
    public String start() {
        return start(Map.of());
    }

    public String start(Map<String, Object> config) {
        String name = name();
        Answer started = bringUp(name, config);
        assertThat(started.failed()).as(started.text()).isFalse();
        return name;
    }

    /** Starts the one that has this name; the answer, once it runs or cannot. */
    public Answer bringUp(String name) {
        return bringUp(name, Map.of());
    }

    /** The same with a configuration. */
    public Answer bringUp(String name, Map<String, Object> config) {
        Map<String, Object> arguments =
                config.isEmpty() ? Map.of("sandbox", name) : Map.of("sandbox", name, "config", config);
        return broughtUp(() -> agent().call("sandbox_start", arguments));
    }

    /** A start that may find no room, or outlast its call on a busy node: it is then made again, as its answer says. */
    public static Answer broughtUp(Supplier<Answer> start) {
        return await("room for a sandbox, and its start")
                .atMost(ROOM)
                .until(
                        start::get,
                        answer -> !isWithoutPod(answer.text())
                                && !"starting".equals(answer.data().get("status")));
    }

    /** Makes a call that starts a pod; its answer, once the node has room for it. */
    public Answer callWhereThereIsRoom(String tool, Map<String, Object> arguments) {
        return whereThereIsRoom(() -> agent().call(tool, arguments), Answer::text);
    }

    /** The first answer that does not say that there is no pod yet. */
    static <T> T whereThereIsRoom(Callable<T> call, Function<T, String> text) {
        return await("room on the node").atMost(ROOM).until(call, answer -> !isWithoutPod(text.apply(answer)));
    }

    private static boolean isWithoutPod(String text) {
        return WITHOUT_POD.stream().anyMatch(text::contains);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        agent = Installation.current().agent();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (!keptBetweenTests) {
            deleteAll();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        try {
            deleteAll();
        } finally {
            agent().close();
        }
    }

    private void deleteAll() {
        while (!names.isEmpty()) {
            agent().call("sandbox_stop", Map.of("sandbox", names.pop(), "delete", true));
        }
    }
}
