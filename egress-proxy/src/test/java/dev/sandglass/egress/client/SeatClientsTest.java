package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.PodName;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.testing.TenantObjects;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who is at the address of a pod of a pool, in whichever order the watches tell of it. */
class SeatClientsTest {

    private static final String SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a10";
    private static final String OTHER_SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a11";
    private static final IpAddress ADDRESS = IpAddress.parse("10.244.0.7");
    private static final IpAddress OTHER_ADDRESS = IpAddress.parse("10.244.0.8");

    @RegisterExtension
    final MockApi api = new MockApi();

    private final TenantObjects tenant = new TenantObjects(api.client(), "tenant");
    private final TenantObjects neighbour = new TenantObjects(api.client(), "other");
    private final SandboxClients clients =
            new SandboxClients(api.client(), List.of("tenant", "other"), false, DefaultDomains.NONE);
    private final ClaimWaits waits = new ClaimWaits(clients, Duration.ofMinutes(5), 4, 8);
    private final List<String> told = new CopyOnWriteArrayList<>();

    @BeforeEach
    void watch() {
        TenantObjects.define(api.client());
        clients.onChange(told::add);
        clients.start();
        await().until(clients::isSynced);
    }

    @AfterEach
    void close() {
        clients.close();
    }

    private Pod seat(String id, IpAddress address) {
        Pod seat = tenant.write(tenant.seat(id, address.toString()).build());
        await().until(() -> clients.awaitsClaim(address));
        return seat;
    }

    private void claim(Pod seat, String sandbox, String uid) {
        tenant.write(TenantObjects.claimed(seat, sandbox, uid));
    }

    private Optional<String> there(IpAddress address) {
        return clients.at(address).map(Client::sandbox);
    }

    /** Waits until the proxy knows a pod that was written after all others: then it knows the others too. */
    private void awaitTheRest() {
        String uid = tenant.sandbox("last");
        tenant.write(tenant.pod("last", uid, 1, "10.244.0.99").build());
        await().until(() -> there(IpAddress.parse("10.244.0.99")).isPresent());
    }

    @Test
    void aSeatIsNobodyUntilItsClaimAndHasItsOwnCredentialThen() throws Exception {
        String uid = tenant.sandbox("one", "example.com");
        Pod seat = seat(SEAT, ADDRESS);
        assertThat(clients.at(ADDRESS)).isEmpty();
        assertThat(clients.awaitsClaim(OTHER_ADDRESS)).isFalse();
        var wait = waits.at(ADDRESS).toCompletableFuture();

        claim(seat, "one", uid);

        assertThat(wait.get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(clients.at(ADDRESS))
                .hasValue(new Client(uid, SEAT, "tenant", "one", EgressRules.parse(List.of("example.com"))));
        assertThat(clients.awaitsClaim(ADDRESS)).isFalse();
        await().until(() -> told.contains(uid));
    }

    /** The mock chooses UIDs, so the sandbox that is not known is one that was. */
    @Tag("slow")
    @Test
    void aClaimByASandboxThatIsNotKnownOpensNothingAndIsWaitedFor() {
        String gone = tenant.sandbox("one", "example.com");
        await().until(() -> clients.knows(gone));
        tenant.delete("one");
        await().until(() -> !clients.knows(gone));
        Pod seat = seat(SEAT, ADDRESS);
        var wait = waits.at(ADDRESS).toCompletableFuture();
        told.clear();
        claim(seat, "one", gone);
        await().until(() -> told.contains(gone));
        assertThat(clients.at(ADDRESS)).isEmpty();
        assertThat(clients.awaitsClaim(ADDRESS)).isTrue();
        assertThat(wait).isNotDone();
    }

    @Tag("slow")
    @Test
    void twoPodsOfOneSandboxHaveEachItsOwnCredential() {
        String uid = tenant.sandbox("one", "example.com");
        claim(seat(SEAT, ADDRESS), "one", uid);
        claim(seat(OTHER_SEAT, OTHER_ADDRESS), "one", uid);
        tenant.write(tenant.pod("one", uid, 3, "10.244.0.9").build());
        await().until(() -> there(IpAddress.parse("10.244.0.9")).isPresent());
        assertThat(clients.at(ADDRESS).map(Client::subject)).hasValue(SEAT);
        assertThat(clients.at(OTHER_ADDRESS).map(Client::subject)).hasValue(OTHER_SEAT);
        assertThat(clients.at(IpAddress.parse("10.244.0.9")).map(Client::subject))
                .hasValue(uid);
        assertThat(List.of(ADDRESS, OTHER_ADDRESS, IpAddress.parse("10.244.0.9")))
                .allMatch(address -> clients.at(address).map(Client::uid).equals(Optional.of(uid)));
    }

    @Tag("slow")
    @Test
    void afterItsSandboxIsDeletedTheSeatIsNobodyAndNoOtherSandboxIsIt() {
        String uid = tenant.sandbox("one", "example.com");
        claim(seat(SEAT, ADDRESS), "one", uid);
        await().until(() -> there(ADDRESS).isPresent());
        tenant.delete("one");
        await().until(() -> there(ADDRESS).isEmpty());
        tenant.sandbox("one", "example.com");
        awaitTheRest();
        assertThat(there(ADDRESS)).isEmpty();
    }

    @Tag("slow")
    @Test
    void whenTheOwnerChangesBothAreToldOfItSoThatTunnelsOfTheFormerEnd() {
        String one = tenant.sandbox("one", "example.com");
        String two = tenant.sandbox("two", "other.example");
        Pod seat = seat(SEAT, ADDRESS);
        claim(seat, "one", one);
        // Of a sandbox when it comes, and again when a seat is its.
        await().until(() -> Collections.frequency(told, one) >= 2 && told.contains(two));
        told.clear();
        // No admission policy lets this happen.
        claim(seat, "two", two);
        await().until(() -> told.contains(one) && told.contains(two));
        assertThat(there(ADDRESS)).hasValue("two");
    }

    @Test
    void whoeverIsNoSeatIsNotWaitedForWhateverItsLabelsAre() {
        String uid = tenant.sandbox("one", "example.com");
        tenant.write(new PodBuilder(tenant.seat(SEAT, ADDRESS.toString()).build())
                .editMetadata()
                .withOwnerReferences(List.of())
                .endMetadata()
                .build());
        tenant.write(new PodBuilder(
                        tenant.pod("one", uid, 1, OTHER_ADDRESS.toString()).build())
                .editMetadata()
                .addToLabels(SandboxLabels.SEAT, SEAT)
                .endMetadata()
                .build());
        awaitTheRest();
        for (IpAddress address : List.of(ADDRESS, OTHER_ADDRESS)) {
            assertThat(clients.at(address)).isEmpty();
            assertThat(clients.awaitsClaim(address)).isFalse();
        }
    }

    @Tag("slow")
    @Test
    void whoseNameLiesIsNobody() {
        String one = tenant.sandbox("one", "example.com");
        String two = tenant.sandbox("two", "example.com");
        tenant.write(
                new PodBuilder(tenant.pod("one", one, 1, ADDRESS.toString()).build())
                        .editMetadata()
                        .withName(new PodName(two, 7).text())
                        .endMetadata()
                        .build());
        tenant.write(new PodBuilder(TenantObjects.claimed(
                        tenant.seat(SEAT, OTHER_ADDRESS.toString()).build(), "one", one))
                .editMetadata()
                .withName(new PodName(OTHER_SEAT, 0).text())
                .endMetadata()
                .build());
        awaitTheRest();
        for (IpAddress address : List.of(ADDRESS, OTHER_ADDRESS)) {
            assertThat(clients.at(address)).isEmpty();
            assertThat(clients.awaitsClaim(address)).isFalse();
        }
    }

    /** A claim leads to no sandbox of another namespace, and waits for none. */
    @Tag("slow")
    @Test
    void aClaimOfASandboxOfAnotherNamespaceIsNone() {
        String theirs = neighbour.sandbox("one", "example.com");
        await().until(() -> clients.knows(theirs));
        claim(seat(SEAT, ADDRESS), "one", theirs);
        await().until(() -> !clients.awaitsClaim(ADDRESS));
        assertThat(clients.at(ADDRESS)).isEmpty();
    }

    @Tag("slow")
    @Test
    void aSeatThatIsGoneOrSharesItsAddressIsNotWaitedFor() {
        Pod seat = seat(SEAT, ADDRESS);
        Pod other = tenant.write(tenant.seat(OTHER_SEAT, ADDRESS.toString()).build());
        await().until(() -> !clients.awaitsClaim(ADDRESS));
        tenant.delete(other);
        await().until(() -> clients.awaitsClaim(ADDRESS));
        tenant.delete(seat);
        await().until(() -> !clients.awaitsClaim(ADDRESS));
    }

    @Tag("slow")
    @Test
    void anAddressIsConfirmedOnlyWhileTheSameSandboxHasThePod() throws Exception {
        String one = tenant.sandbox("one", "example.com");
        Pod seat = seat(SEAT, ADDRESS);
        assertThat(confirmed(one)).isFalse();
        claim(seat, "one", one);
        await().until(() -> there(ADDRESS).isPresent());
        assertThat(confirmed(one)).isTrue();
        assertThat(confirmed(tenant.sandbox("two", "example.com"))).isFalse();
    }

    private boolean confirmed(String uid) throws Exception {
        return clients.confirm(ADDRESS, uid).toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
}
