package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much the operator writes, and that it may die between any two of these writes. */
class WritesIT {

    private static final Duration SOON = Duration.ofSeconds(20);

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    @Test
    void aStartTakesFiveWritesAndNothingIsWrittenWithoutNeed() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            for (String name : new String[] {"first", "second"}) {
                namespace.create(name, SandboxSpec.DEFAULT);
                namespace.await(name, SOON, WritesIT::ready);
            }
            // The watch may tell of the last write before its answer is counted.
            Awaitility.await().until(() -> operator.requests("PUT", "sandboxes/status") >= 4);

            assertThat(operator.writes())
                    .as("five each, and the namespace's policy")
                    .isEqualTo(11);
            assertThat(operator.requests("GET", "secrets")).isZero();
        }
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            // A third sandbox shows when the newcomer has gone through what it found.
            namespace.create("third", SandboxSpec.DEFAULT);
            namespace.await("third", SOON, WritesIT::ready);
            assertThat(next.writes()).isLessThanOrEqualTo(5);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5})
    void anOperatorThatDiesAfterAnyWriteIsFollowedByOneThatFinishes(int writes) {
        namespace.create("crash", SandboxSpec.DEFAULT);
        Mortal death = new Mortal(writes);
        try (TestNamespace.Running dying = namespace.operator(Map.of(), death)) {
            Awaitility.await().atMost(SOON).until(() -> death.dead() || ready(namespace.get("crash")));
            assertThat(dying.writes()).isLessThanOrEqualTo(writes);
        }
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox sandbox = namespace.await("crash", SOON, WritesIT::ready);

            assertThat(sandbox.observed().incarnation()).isEqualTo(1);
            assertThat(namespace.pods())
                    .extracting(Pod::getMetadata)
                    .extracting(metadata -> metadata.getName())
                    .containsExactly(sandbox.observed().podName());
            assertThat(next.writes()).isLessThanOrEqualTo(6);
        }
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(ConditionType.READY);
    }

    /** Lets so many writes pass and then nothing more, as if the process had been killed there. */
    private static final class Mortal implements Interceptor {
        private final AtomicInteger left;

        Mortal(int writes) {
            this.left = new AtomicInteger(writes);
        }

        @Override
        public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            if (!"GET".equals(request.method()) && left.decrementAndGet() < 0) {
                throw new IllegalStateException("killed before " + request.method() + " " + request.uri());
            }
        }

        boolean dead() {
            return left.get() < 0;
        }
    }
}
