package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.denial.Failure;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which refusals and failures are told, and when: before the sandbox itself hears of them. */
@SuppressWarnings("NullAway.Init")
class DenialsToldTest {

    private Stage stage;

    @BeforeEach
    void open() throws InterruptedException {
        stage = new Stage();
        stage.clients.put(SANDBOX, "one", "allowed.example:80");
        stage.clients.put(NEIGHBOUR, "two", "other.example");
    }

    @AfterEach
    void close() throws IOException {
        stage.close();
    }

    @Test
    void aNameThatIsNotAllowed() throws IOException {
        assertThat(stage.refusal(SANDBOX, "Denied.Example.:8443")).startsWith("HTTP/1.1 403 ");
        assertThat(stage.denials).hasSize(1);
        Denial told = stage.denials.getFirst();
        assertThat(told.sandboxUid()).isEqualTo("one");
        assertThat(told.namespace()).isEqualTo("tenant");
        assertThat(told.sandbox()).isEqualTo("name-of-one");
        assertThat(told.host() + ":" + told.port() + " " + told.reason()).isEqualTo("denied.example:8443 not-allowed");
        assertThat(stage.answer(SANDBOX, "GET http://plain.example/?secret HTTP/1.1\r\nHost: plain.example\r\n\r\n"))
                .startsWith("HTTP/1.1 403 ");
        assertThat(stage.denials).hasSize(2).last().extracting(Denial::host).isEqualTo("plain.example");
    }

    @Test
    void anAddressThatNoSandboxMayReach() throws IOException {
        stage.names.put("allowed.example", "169.254.169.254");
        assertThat(stage.refusal(SANDBOX, "allowed.example:80")).startsWith("HTTP/1.1 403 ");
        assertThat(stage.denials)
                .singleElement()
                .extracting(Denial::reason, Denial::host)
                .containsExactly("address-denied", "allowed.example");
    }

    @Test
    void anAllowedHostThatIsNotReached() throws IOException {
        assertThat(stage.refusal(SANDBOX, "Allowed.Example.:80")).startsWith("HTTP/1.1 502 ");
        Origin origin = stage.origin(peer -> {});
        origin.close();
        stage.clients.put(SANDBOX, "one", "allowed.example:" + origin.port());
        stage.names.put("allowed.example", "127.0.0.1");
        assertThat(stage.answer(
                        SANDBOX,
                        "GET http://allowed.example:%d/?secret HTTP/1.1\r\nHost: allowed.example:%<d\r\n\r\n"
                                .formatted(origin.port())))
                .startsWith("HTTP/1.1 502 ");
        assertThat(stage.failures)
                .extracting(Failure::sandboxUid, Failure::sandbox, Failure::host, Failure::port, Failure::why)
                .containsExactly(
                        tuple("one", "name-of-one", "allowed.example", 80, "DNS has no address for this name"),
                        tuple(
                                "one",
                                "name-of-one",
                                "allowed.example",
                                origin.port(),
                                "the host refused the connection: nothing listens on this port"));
        assertThat(stage.denials).isEmpty();
    }

    @Test
    void nothingElse() throws IOException {
        assertThat(stage.refusal(STRANGER, "denied.example:443")).startsWith("HTTP/1.1 407 ");
        assertThat(stage.refusal(SANDBOX, "127.1:443")).startsWith("HTTP/1.1 400 ");
        assertThat(stage.denials).isEmpty();
        assertThat(stage.failures).isEmpty();
    }
}
