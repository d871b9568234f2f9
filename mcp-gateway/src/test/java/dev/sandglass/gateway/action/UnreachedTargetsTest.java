package dev.sandglass.gateway.action;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.CutOutput;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When an answer waits for a report of the egress proxy that is on its way. */
class UnreachedTargetsTest {

    @Test
    void anAnswerWaitsOnlyForTextThatComplainsOfAProxy() {
        ExecutionResult plain = printed("the answer is 403");
        ExecutionResult complaint = printed("curl: (56) CONNECT tunnel failed, response 403");
        DeniedHosts hosts = new DeniedHosts();
        UnreachedTargets targets = new UnreachedTargets(hosts);
        // No egress proxy reports anything.
        assertThat(targets.during("uid-box", complaint, hosts.now()).toFuture()).isDone();
        hosts.setHearing(true);
        assertThat(targets.during("uid-box", plain, hosts.now()).toFuture()).isDone();
        assertThat(targets.during("uid-box", complaint, hosts.now()).toFuture())
                .succeedsWithin(Duration.ofSeconds(10))
                .isEqualTo(List.of());
        long since = hosts.now();
        hosts.note("uid-box", "known.example:443", "not-allowed");
        assertThat(targets.during("uid-box", complaint, since).toFuture()).isDone();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "curl: (56) CONNECT tunnel failed, response 403 | true",
                "OSError('Tunnel connection failed: 403 Forbidden') | true",
                "Proxy tunneling failed: ForbiddenUnable to establish SSL connection. | true",
                "Proxy response (403) !== 200 when HTTP Tunneling | true",
                "curl: (56) CONNECT tunnel failed, response 502 | true",
                "Proxy tunneling failed: Bad Gateway - DNS lookup failedUnable to establish SSL connection. | true",
                "The egress proxy refused this request. | true",
                "The egress proxy did not reach this host. | true",
                "403 | false",
                "a tunnel through a mountain | false",
            })
    void complaints(String text, boolean complains) {
        assertThat(UnreachedTargets.complainsOfAProxy(printed(text))).isEqualTo(complains);
    }

    private static ExecutionResult printed(String text) {
        return new ExecutionResult(
                ExecutionStatus.OK,
                ExecutionId.random("default", "uid-box", 1),
                text,
                "",
                null,
                null,
                null,
                List.of(),
                0,
                null,
                null,
                0,
                CutOutput.NONE,
                0,
                0,
                false,
                "",
                null,
                null,
                null,
                0,
                List.of());
    }
}
