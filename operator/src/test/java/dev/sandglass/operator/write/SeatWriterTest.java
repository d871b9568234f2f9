package dev.sandglass.operator.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.Reason;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.pool.Pools;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is written of seats, and what is left of a write that was refused. */
class SeatWriterTest {

    private static final String SEAT = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final String OTHER = "c2e6a3d1-7b64-4a1f-8a7e-1dab8cf32e55";
    private static final LinkSecret LINK_SECRET = new LinkSecret(new byte[32]);
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();
    private final SandboxPool pool = Pools.pool("warm", 1);
    private final SeatWriter writer = new SeatWriter(
            client,
            new ChildWriter(
                    client,
                    Pools.SETTINGS,
                    new TenantNamespaces(Set.of("tenant-a"), false, "sandglass-system"),
                    LINK_SECRET,
                    Optional.empty()));

    private Pod make(String seatId) {
        return writer.make(pool, seatId, writer.making()).pod().orElseThrow();
    }

    private List<Pod> pods() {
        return client.pods().inNamespace("tenant-a").list().getItems();
    }

    private List<Secret> secrets() {
        return client.secrets().inNamespace("tenant-a").list().getItems();
    }

    private void refuse(String kind, String message) {
        api.server()
                .expect()
                .post()
                .withPath("/api/v1/namespaces/tenant-a/" + kind)
                .andReturn(
                        403,
                        new StatusBuilder()
                                .withCode(403)
                                .withReason("Forbidden")
                                .withMessage(message)
                                .build())
                .once();
    }

    @Test
    void aSeatHasTheKeysOfItsIdInASecretOfItsPod() {
        Pod seat = make(SEAT);

        assertThat(seat.getMetadata().getName()).isEqualTo("sbx-" + SEAT + "-0");
        Secret secret = secrets().getFirst();
        assertThat(secret.getMetadata().getName()).isEqualTo(seat.getMetadata().getName());
        assertThat(secret.getMetadata().getOwnerReferences().getFirst().getUid())
                .isEqualTo(seat.getMetadata().getUid());
        byte[] key = Base64.getDecoder().decode(secret.getData().get("linkSecretKey"));
        assertThat(new String(key, StandardCharsets.US_ASCII))
                .isEqualTo(LinkKeys.derive(LINK_SECRET, SEAT, 0).pod().secretZ85());
    }

    @Test
    void keysThatAreGoneAreMadeAgain() {
        Pod seat = make(SEAT);
        Secret before = secrets().getFirst();
        client.resource(before).delete();

        writer.giveKeys(seat);

        assertThat(secrets()).singleElement().satisfies(again -> assertThat(again.getData())
                .isEqualTo(before.getData()));
    }

    @Test
    void whatTheApiServerRefusesIsReportedInItsWords() {
        refuse("pods", "pods is forbidden: exceeded quota: pods");
        refuse("pods", "denied by a policy");

        assertThat(writer.make(pool, SEAT, writer.making()).refusal()).hasValueSatisfying(why -> {
            assertThat(why.reason()).isEqualTo(Reason.QUOTA_EXCEEDED);
            assertThat(why.message()).contains("exceeded quota: pods");
        });
        assertThat(writer.make(pool, SEAT, writer.making()).refusal())
                .hasValueSatisfying(why -> assertThat(why.reason()).isEqualTo(Reason.POD_REFUSED));
    }

    /** It would wait for its Secret for ever. */
    @Test
    void aPodWhoseSecretIsRefusedIsNotLeftBehind() {
        refuse("secrets", "secrets is forbidden: exceeded quota: secrets");

        assertThat(writer.make(pool, SEAT, writer.making()).refusal())
                .hasValueSatisfying(why -> assertThat(why.reason()).isEqualTo(Reason.QUOTA_EXCEEDED));
        assertThat(pods()).isEmpty();
    }

    @Test
    void aSeatThatIsGoneAlreadyHasEnded() {
        Pod seat = make(SEAT);
        assertThat(writer.end(seat)).isTrue();
        assertThat(writer.end(seat)).isTrue();
        assertThat(writer.find(seat)).isEmpty();
    }

    @Test
    void aSeatThatWasChangedSinceStays() {
        Pod seat = make(SEAT);
        refuseToEnd(seat);
        assertThat(writer.end(seat)).isFalse();
        assertThat(pods()).hasSize(1);
    }

    @Test
    void roomInAQuotaIsMadeByTheSeatThatIsWorthLeastAndLeftForAWhile() {
        Pod ready = Pools.running(make(SEAT));
        Pod starting = make(OTHER);

        assertThat(writer.heldUntil("tenant-a")).isEmpty();
        assertThat(writer.makeRoom("tenant-a", List.of(ready, starting), NOW)).isTrue();

        assertThat(pods())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly(ready.getMetadata().getName());
        assertThat(writer.heldUntil("tenant-a")).hasValue(NOW.plus(SeatWriter.ROOM_HELD));
        assertThat(writer.heldUntil("tenant-b")).isEmpty();
        assertThat(writer.makeRoom("tenant-b", List.of(), NOW)).isFalse();
        assertThat(writer.heldUntil("tenant-b")).isEmpty();
    }

    @Test
    void whereASeatWasClaimedMeanwhileTheNextOneMakesRoom() {
        Pod claimed = make(SEAT);
        Pod ready = Pools.running(make(OTHER));
        refuseToEnd(claimed);

        assertThat(writer.makeRoom("tenant-a", List.of(ready, claimed), NOW)).isTrue();

        assertThat(pods())
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly(claimed.getMetadata().getName());
    }

    private void refuseToEnd(Pod seat) {
        api.server()
                .expect()
                .delete()
                .withPath(
                        "/api/v1/namespaces/tenant-a/pods/" + seat.getMetadata().getName())
                .andReturn(
                        409,
                        new StatusBuilder().withCode(409).withReason("Conflict").build())
                .once();
    }

    @Test
    void onlyThePodOfASeatGetsTheKeysOfOne() {
        Pod cold = make(SEAT)
                .edit()
                .editMetadata()
                .withName("sbx-" + SEAT + "-1")
                .endMetadata()
                .build();
        assertThatThrownBy(() -> writer.giveKeys(cold)).isInstanceOf(IllegalArgumentException.class);
    }
}
