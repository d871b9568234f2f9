package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import dev.sandglass.gateway.testing.TestLinks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** Links to seats over the real wire: with the seat's keys, and by no other. */
class SeatLinkTest {

    private static final LinkSettings SETTINGS = LinkSettings.defaults("test");
    private static final LinkSecret SECRET = secret("a link secret of at least 32 bytes");
    private static final LinkSecret FRESH = secret("another link secret of 32 bytes or more");
    private static final SeatId SEAT = new SeatId(FakeLink.SEAT);
    private static final SeatConfigurations CONFIGURATIONS =
            _ -> Optional.of(new SeatConfiguration(Map.of("A", "b"), Optional.empty()));
    private static final Duration LONG = Duration.ofSeconds(60);

    private static LinkSecret secret(String text) {
        return new LinkSecret(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void aSeatIsReachedByItsOwnKeysAndConfigured() throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET, SEAT);
                LinkClient client = TestLinks.start(SETTINGS, LinkSecrets.of(SECRET), CONFIGURATIONS)) {
            assertServed(client, far);
        }
    }

    @Test
    void aSeatOfBeforeTheSecretWasReplacedIsReachedByThePreviousOne() throws Exception {
        LinkSecrets secrets = new LinkSecrets(FRESH, Optional.of(SECRET));
        try (HostileSupervisor far = new HostileSupervisor(SECRET, SEAT);
                LinkClient client = TestLinks.start(SETTINGS, secrets, CONFIGURATIONS)) {
            CompletableFuture<Answer> answer = client.link(far.target()).ask(new Verb.Metrics(), LONG);
            // By the keys of the new secret it cannot be spoken with.
            CompletableFuture<Void> accepted = CompletableFuture.runAsync(() -> acceptedByOldKeys(far));
            accepted.get(60, TimeUnit.SECONDS);
            configured(far);
            answers(far, answer);
        }
    }

    private static void acceptedByOldKeys(HostileSupervisor far) {
        while (true) {
            try {
                far.accept(SEAT, "null");
                return;
            } catch (IOException refused) {
                // The next attempt has the other keys.
            }
        }
    }

    /** As if a status named a sandbox's UID and incarnation for a pod that has a seat's keys. */
    @Test
    void theKeysOfTheSandboxOpenNoSeat() throws Exception {
        try (HostileSupervisor far = new HostileSupervisor(SECRET, SEAT);
                LinkClient client = TestLinks.start(SETTINGS, LinkSecrets.of(SECRET), CONFIGURATIONS)) {
            LinkTarget cold = new LinkTarget(
                    far.target().sandboxUid(),
                    1,
                    far.target().host(),
                    far.target().port());
            CompletableFuture<Answer> answer = client.link(cold).ask(new Verb.Metrics(), Duration.ofSeconds(1));
            assertThatThrownBy(() -> far.accept(SEAT, "null")).isInstanceOf(IOException.class);
            await().atMost(LONG).until(answer::isDone);
            assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
        }
    }

    private static void assertServed(LinkClient client, HostileSupervisor far) throws Exception {
        CompletableFuture<Answer> answer = client.link(far.target()).ask(new Verb.Metrics(), LONG);
        far.accept(SEAT, "null");
        configured(far);
        answers(far, answer);
    }

    private static void configured(HostileSupervisor far) throws IOException {
        List<byte[]> asked = far.message();
        assertThat(JsonMapper.shared().readTree(asked.get(2)))
                .isEqualTo(JsonMapper.shared().readTree("""
                {"verb":"configure","sandbox_uid":"hostile","incarnation":1,"env":{"A":"b"}}"""));
        far.say(SupervisorFrames.reply(id(asked), "{}"));
    }

    private static void answers(HostileSupervisor far, CompletableFuture<Answer> answer) throws Exception {
        List<byte[]> asked = far.message();
        assertThat(JsonMapper.shared().readTree(asked.get(2)).path("verb").asString())
                .isEqualTo("metrics");
        far.say(SupervisorFrames.reply(id(asked), "{\"pids\":3}"));
        assertThat(answer.get(60, TimeUnit.SECONDS).json().path("pids").asInt()).isEqualTo(3);
    }

    private static String id(List<byte[]> frames) {
        return new String(frames.get(1), StandardCharsets.US_ASCII);
    }
}
