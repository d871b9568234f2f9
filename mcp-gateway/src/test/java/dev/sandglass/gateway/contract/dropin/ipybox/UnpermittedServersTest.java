package dev.sandglass.gateway.contract.dropin.ipybox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.action.OwnPods;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.AgentServerSettings.Permitted;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.SharedServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code register_mcp_server} where an administrator lets agents register servers with {@code url} alone. */
@SuppressWarnings("NullAway.Init")
class UnpermittedServersTest {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final FakeSandboxes sandboxes = new FakeSandboxes();
    private final FakeSupervisor supervisor = new FakeSupervisor();
    private Tool register;

    @BeforeEach
    void start() {
        sandboxes.addRunning("box");
        supervisor.servers.listed = "{\"servers\":[]}";
        var pods = new OwnPods(
                new AgentServerSettings(Permitted.HTTP, List.of()),
                List.of(),
                AgentServers.NONE,
                SharedServers.NONE,
                (_, _) -> Mono.never());
        Actions actions = Actions.of(
                sandboxes, new Executions(supervisor, sandboxes::ends), new DeniedHosts(), SharedServerList.NONE, pods);
        var access = new TenantAccess(Tenants.parse(List.of("default=sandglass-default")));
        var secret = new LinkSecret("a link secret for tests only, 32 bytes".getBytes(StandardCharsets.US_ASCII));
        var settings = new ToolSettings(SOON, SOON, SOON, 20_000, SOON, SOON);
        register = new IpyboxContract(actions, access, secret, settings)
                .offer(new Query("sandbox=box")).tools().stream()
                        .filter(tool -> tool.definition().name().equals("register_mcp_server"))
                        .findFirst()
                        .orElseThrow();
    }

    @AfterEach
    void stop() {
        supervisor.close();
    }

    private String text(String params) {
        var json = (ObjectNode) JsonMapper.shared()
                .readTree("{'server_name':'web','server_params':%s}"
                        .formatted(params)
                        .replace('\'', '"'));
        var call = new ToolCall(
                new Caller("alice", List.of("default")), Arguments.of(json), OutputListener.NONE, Optional.empty());
        ToolResult result = register.call(call)
                .onErrorResume(failure -> Mono.just(register.refused(failure)))
                .blockOptional(SOON)
                .orElseThrow();
        return ((ToolResult.Content.Text) result.content().getFirst()).text();
    }

    @Test
    void variablesAreNotPutWhereCodeReadsThem() {
        assertThat(text("{'command':'npx','env':{'KEY':'s3cret'}}")).isEqualTo("""
                Error: This installation lets agents register only an MCP server with 'url', and none with 'command', in a pod \
                of its own (mcp.agentServers of the chart is 'http'). Its administrator can permit it, or share this server as a \
                SandboxToolServer. With 'placement': 'sandbox' in 'server_params' it runs in the sandbox's own pod, where code \
                can read 'env' and 'headers'.""");
        assertThat(supervisor.verbs).isEmpty();
    }

    /** The controls: no values, and the sandbox's pod by the caller's own choice. */
    @Test
    void theSandboxsPodNeedsNoPermission() {
        assertThat(text("{'command':'npx'}")).isEqualTo("[\"search\",\"fetch_url\"]");
        assertThat(text("{'command':'npx','env':{'KEY':'s3cret'},'placement':'sandbox'}"))
                .startsWith("[\"search\"");
        assertThat(supervisor.verbs)
                .filteredOn(Verb.RegisterServer.class::isInstance)
                .hasSize(2);
    }
}
