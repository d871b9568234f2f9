package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.egress.proxy.Peer;
import dev.sandglass.egress.testing.LoopbackResolver;
import dev.sandglass.egress.testing.TenantObjects;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The process as a whole before a pod of a pool: from the seat to its claim, to the end of its sandbox. */
@Tag("slow")
class SeatProxyTest {

    private static final EgressSecret SECRET = new EgressSecret(new byte[32]);
    private static final String SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a10";
    private static final String OTHER_SEAT = "5f0f6f0e-43b5-4d9c-9a51-6a1c0a4c8a11";
    private static final String AT_SEAT = "127.0.0.51";
    private static final String AT_OTHER = "127.0.0.52";
    private static final String GIVEN = "HTTP/1.1 200";
    private static final String UNKNOWN = "HTTP/1.1 407";

    @RegisterExtension
    final MockApi api = new MockApi();

    /** The status, asked with the credential of that subject. */
    private static CompletableFuture<String> ask(int port, String source, String target, String subject) {
        byte[] credential = (subject + ":" + SECRET.passwordOf(subject)).getBytes(StandardCharsets.US_ASCII);
        return CompletableFuture.supplyAsync(
                () -> {
                    try (Peer peer = Peer.connect(source, port)) {
                        peer.say("CONNECT " + target + " HTTP/1.1\r\nProxy-Authorization: Basic "
                                + Base64.getEncoder().encodeToString(credential) + "\r\n\r\n");
                        return peer.head().substring(0, GIVEN.length());
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    @Test
    void aSeatReachesWhatItsSandboxMayFromItsClaimOnWithItsOwnCredentialAlone() throws Exception {
        TenantObjects.define(api.client());
        TenantObjects tenant = new TenantObjects(api.client(), RunningProxyTest.NAMESPACE);
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                LoopbackResolver resolver = new LoopbackResolver(LoopbackResolver.SILENT);
                EgressMain.RunningProxy running = new EgressMain.RunningProxy(
                        RunningProxyTest.settings(), api.client(), SECRET, metrics, resolver.asServers())) {
            int port = running.port();
            String target = "127.0.0.1:" + server.getLocalPort();
            String uid = tenant.sandbox("one", target);
            Pod seat = tenant.write(tenant.seat(SEAT, AT_SEAT).build());
            Pod other = tenant.write(tenant.seat(OTHER_SEAT, AT_OTHER).build());
            // Before: neither the seat's own credential opens anything, nor that of the sandbox that claims it later.
            await().until(() -> ask(port, AT_SEAT, target, SEAT).join().equals(UNKNOWN));
            assertThat(ask(port, AT_SEAT, target, uid).get(20, TimeUnit.SECONDS))
                    .isEqualTo(UNKNOWN);

            tenant.write(TenantObjects.claimed(seat, "one", uid));
            tenant.write(TenantObjects.claimed(other, "one", uid));
            onlyItsOwnCredentialCounts(port, target, uid);

            tenant.delete("one");
            await().until(() -> ask(port, AT_SEAT, target, SEAT).join().equals(UNKNOWN));
            assertThat(metrics.get("sandglass.egress.claims.waiting").gauge().value())
                    .isZero();
        }
    }

    private static void onlyItsOwnCredentialCounts(int port, String target, String uid) throws Exception {
        await().until(() -> ask(port, AT_SEAT, target, SEAT).join().equals(GIVEN));
        await().until(() -> ask(port, AT_OTHER, target, OTHER_SEAT).join().equals(GIVEN));
        CompletableFuture<String> stolen = ask(port, AT_OTHER, target, SEAT);
        CompletableFuture<String> ofTheSandbox = ask(port, AT_SEAT, target, uid);
        assertThat(stolen.get(20, TimeUnit.SECONDS)).isEqualTo(UNKNOWN);
        assertThat(ofTheSandbox.get(20, TimeUnit.SECONDS)).isEqualTo(UNKNOWN);
    }
}
