package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Why a server does not run, with the hosts that its pod did not reach. */
class RefusedHostsTest {

    private static final SharedServer WEB = FakeSharedServers.server("web");
    private static final SharedServer OF_AGENT =
            new SharedServer(WEB.identity(), WEB.registration(), WEB.rules(), WEB.bounds(), WEB.trouble(), true);

    private final DeniedHosts denied = new DeniedHosts();
    private final RunningSandbox pod = new FakeSandboxes().addRunning("web-mcp");
    private final RunningSandbox other = new FakeSandboxes().addRunning("other-mcp");
    private final RefusedHosts refused = new RefusedHosts(denied);
    private final CompletableFuture<String> attempt = new CompletableFuture<>();

    private CompletableFuture<String> begun(SharedServer server) {
        return refused.named(pod, server, Mono.fromFuture(attempt)).toFuture();
    }

    private static LinkException failed() {
        return Refusals.of("mcp_start_failed", "MCP server 'web': 'npx' did not start: it ended");
    }

    private static LinkException problem(Future<String> told) throws Exception {
        try {
            throw new AssertionError("answered with " + told.get(10, TimeUnit.SECONDS));
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof LinkException known) {
                return known;
            }
            throw new AssertionError("no problem of the pod", failed);
        }
    }

    @Test
    void anAgentReadsTheHostsAndWhatToWrite() throws Exception {
        var told = begun(OF_AGENT);
        denied.note(pod.uid(), "registry.example.com:443", "not-allowed");
        denied.note(pod.uid(), "files.example.com:8443", "not-allowed");
        denied.note(other.uid(), "elsewhere.example.com:443", "not-allowed");
        attempt.completeExceptionally(failed());

        LinkException why = problem(told);
        assertThat(why.code()).isEqualTo("mcp_start_failed");
        assertThat(why.text())
                .isEqualTo("the pod of MCP server 'web' asked for \"registry.example.com:443\","
                        + " \"files.example.com:8443\" and may not reach that: register it again with an 'allowed_domains'"
                        + " that lists this and all else that the server needs."
                        + " MCP server 'web': 'npx' did not start: it ended");
    }

    @Test
    void theFieldOfAnAdministratorsServerIsNamed() throws Exception {
        var told = begun(WEB);
        denied.note(pod.uid(), "registry.example.com:443", "not-allowed");
        attempt.completeExceptionally(failed());

        assertThat(problem(told).text())
                .contains("an administrator adds it to spec.allowedDomains of SandboxToolServer web");
    }

    @Test
    void whatNoEntryOpensAndWhatFailedComesWithoutAdvice() throws Exception {
        var told = begun(OF_AGENT);
        denied.note(pod.uid(), "node.example.com:80", "private-address");
        denied.noteFailure(pod.uid(), "dead.example.com:443", "nobody is there");
        attempt.completeExceptionally(failed());

        assertThat(problem(told).text())
                .contains("\"node.example.com:80\", which leads to an address that no sandbox may reach")
                .contains("may reach \"dead.example.com:443\", and no connection came about")
                .doesNotContain("allowed_domains");
    }

    @Test
    void onlySoManyAreNamed() throws Exception {
        var told = begun(OF_AGENT);
        for (int i = 1; i <= RefusedHosts.MOST_NAMED + 1; i++) {
            denied.note(pod.uid(), i + ".example.com:443", "not-allowed");
        }
        attempt.completeExceptionally(failed());

        assertThat(problem(told).text())
                .contains("\"5.example.com:443\" and 1 more")
                .doesNotContain("6.example");
    }

    @Test
    void eachCallThatSharesAFailureReadsTheHosts() throws Exception {
        var first = begun(OF_AGENT);
        var second = begun(OF_AGENT);
        denied.note(pod.uid(), "registry.example.com:443", "not-allowed");
        attempt.completeExceptionally(failed());

        assertThat(problem(first).text()).contains("registry.example.com");
        assertThat(problem(second).text()).contains("registry.example.com");
    }

    @Test
    void aFailureWaitsForTheEgressProxyAndNotForEver() throws Exception {
        denied.setHearing(true);
        attempt.completeExceptionally(failed());

        assertThat(problem(begun(OF_AGENT)).text()).isEqualTo(failed().text());
    }

    @Test
    void anyOtherFailureStaysAsItIs() throws Exception {
        var told = begun(OF_AGENT);
        denied.note(pod.uid(), "registry.example.com:443", "not-allowed");
        attempt.completeExceptionally(Refusals.of("no_tool", "there is no such tool"));

        assertThat(problem(told).text()).isEqualTo("there is no such tool");
    }
}
