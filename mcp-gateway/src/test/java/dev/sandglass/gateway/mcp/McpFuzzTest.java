package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.SandglassContract;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.testing.Fuzz;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Whatever a client sends: from the bytes of a body to the answer's, by way of every tool's arguments. There are no
 * sandboxes, so that every call ends when its arguments are read.
 */
class McpFuzzTest {

    private static final int MAX_BODY = 64 * 1024;
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private static final List<String> HEADERS = List.of("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name");
    private static final JsonMapper PLAIN = JsonMapper.shared();

    private final JsonCodec codec = new JsonCodec(MAX_BODY);
    private final Caller caller = new Caller("alice", List.of("default"));
    private final FakeSandboxes sandboxes = new FakeSandboxes();
    private final TenantAccess tenants = new TenantAccess(Tenants.parse(List.of("default=sandglass-default")));
    private final Contract contract = contract();
    private final McpDispatcher dispatcher =
            new McpDispatcher("test", new AuditLog(tenants, new SimpleMeterRegistry(), System::nanoTime));
    private final Level level = ROOT.getLevel();

    @BeforeEach
    void silence() {
        ROOT.setLevel(Level.OFF);
        sandboxes.startsAnswer(Mono.error(new SandboxProblem.NotFound("box", "default")));
    }

    @AfterEach
    void speak() {
        ROOT.setLevel(level);
    }

    @Test
    void anyBodyAndHeaders() throws IOException {
        Fuzz.attack(FrameMutator::new, "mcp", corpus(), this::examine);
    }

    private void examine(List<byte[]> message) {
        byte[] body = message.isEmpty() ? new byte[0] : message.getFirst();
        sandboxes.orders.clear();
        sandboxes.configs.clear();
        if (body.length <= MAX_BODY) {
            byte[] answer = codec.write(answer(body, headers(message)));
            sound(PLAIN.readTree(new String(answer, StandardCharsets.UTF_8)));
        }
    }

    private JsonRpc.Answer answer(byte[] body, HttpHeaders headers) {
        ObjectNode read;
        try {
            read = codec.read(body);
        } catch (McpError problem) {
            return JsonRpc.Answer.error(null, problem.problem());
        }
        try {
            return switch (JsonCodec.message(read)) {
                case JsonRpc.Incoming.Request request ->
                    JsonRpc.Answer.result(request.id(), dispatched(request, headers));
                case JsonRpc.Incoming.Notification _, JsonRpc.Incoming.Response _ ->
                    JsonRpc.Answer.result(PLAIN.createObjectNode(), "");
            };
        } catch (McpError problem) {
            return JsonRpc.Answer.error(JsonCodec.idOf(read), problem.problem());
        }
    }

    private Object dispatched(JsonRpc.Incoming.Request incoming, HttpHeaders headers) {
        ProtocolRevision era = ProtocolRevision.of(incoming, headers);
        var request = new McpRequest(
                incoming.id(),
                incoming.method(),
                incoming.params(),
                era,
                caller,
                new McpRequest.Origin("192.0.2.7", java.util.Optional.empty(), java.util.Optional.empty()),
                "sandglass",
                contract.offer(Query.NONE));
        assertThat(request.progressToken()).isNotNull();
        var call = new McpRequest.Call(request, OutputListener.NONE, Schedulers.immediate());
        return dispatcher.dispatch(call).blockOptional(SOON).orElseThrow();
    }

    /** Every client can read it: half a character is none. */
    private static void sound(JsonNode node) {
        if (node.isString()) {
            assertThat(StandardCharsets.UTF_8.newEncoder().canEncode(node.asString()))
                    .as("half a character in the answer")
                    .isTrue();
        }
        node.forEach(McpFuzzTest::sound);
    }

    private static HttpHeaders headers(List<byte[]> message) {
        HttpHeaders headers =
                DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
        for (int i = 1; i < message.size() && i <= HEADERS.size(); i++) {
            if (message.get(i).length > 0) {
                headers.set(HEADERS.get(i - 1), new String(message.get(i), StandardCharsets.ISO_8859_1));
            }
        }
        return headers;
    }

    private Contract contract() {
        var settings = new ToolSettings(
                Duration.ofMinutes(2),
                Duration.ofHours(1),
                Duration.ofSeconds(20),
                20_000,
                Duration.ofMillis(10),
                Duration.ofMillis(10));
        var executions = new Executions(new FakeSupervisor(), sandboxes::ends);
        return new SandglassContract(
                Actions.of(sandboxes, executions, new DeniedHosts()), tenants, TestGateway.ports(), settings);
    }

    /** Body and headers: both revisions, each method, each tool with all of its arguments. */
    private static List<List<byte[]>> corpus() {
        Stream<String> methods = Stream.of(
                "'method':'initialize','params':{'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'c','version':'1'}}",
                "'method':'ping'",
                "'method':'tools/list','params':{'cursor':'x'}",
                "'method':'server/discover'",
                "'method':'prompts/list'",
                "'method':'prompts/get','params':{'name':'run_code','arguments':{'language':'python'}}",
                "'method':'resources/list','params':{'cursor':'ZGVmYXVsdC9ib3g'}",
                "'method':'resources/templates/list'",
                "'method':'resources/read','params':{'uri':'sandbox://default/box/data/a%20b.csv'}",
                "'method':'completion/complete','params':{'ref':{'type':'ref/prompt','name':'create_node_sandbox'},"
                        + "'argument':{'name':'namespace','value':'d'}}",
                "'method':'completion/complete','params':{'ref':{'type':'ref/resource','uri':"
                        + "'sandbox://{namespace}/{sandbox}/{+path}'},'argument':{'name':'path','value':'data/%41'},"
                        + "'context':{'arguments':{'namespace':'default','sandbox':'box'}}}",
                "'method':'notifications/cancelled','params':{'requestId':7,'reason':'no'}");
        Stream<String> calls = calls().map("'method':'tools/call','params':{%s}"::formatted);
        return Stream.concat(methods, calls)
                .flatMap(call -> Stream.of(legacy(call), modern(call)))
                .toList();
    }

    private static Stream<String> calls() {
        return Stream.of(
                "'name':'sandbox_start','arguments':{'sandbox':'box','namespace':'default','config':{'image':'microsandbox/python',"
                        + "'memory':512,'cpus':'500m','disk':'2Gi','envs':{'A':'1'},'volumes':[],'ports':[8000,'1:9000'],'allowed_domains':['a.example']}}",
                "'name':'sandbox_start','arguments':{'sandbox':'box','config':{'memory':512.0,'cpus':1e999,'disk':-1e999,"
                        + "'workspace':{'size':1e-999},'ports':[8e3,1e99],'idle_timeout':6e2}}",
                "'name':'sandbox_stop','arguments':{'sandbox':'box','delete':true}",
                "'name':'sandbox_run_code','arguments':{'sandbox':'box','code':'1+1','language':'python','session':'s','timeout':5,"
                        + "'wait':0.5,'envs':['A=1'],'background':false,'max_output_chars':100},'_meta':{'progressToken':'t'}",
                "'name':'sandbox_run_command','arguments':{'sandbox':'box','command':'ls','args':['-l'],'cwd':'/tmp','stdin':'x','timeout':5}",
                "'name':'sandbox_get_execution','arguments':{'execution_id':'default.uid-box.1.abcdefghijklmnop','offset':7,'wait':0.01}",
                "'name':'sandbox_get_execution','arguments':{'execution_id':'default.uid-box.1.abcdefghijklmnop','offset':7.0,'wait':1e999,"
                        + "'max_output_chars':1e2}",
                "'name':'sandbox_interrupt','arguments':{'sandbox':'box','language':'python','session':'s'}",
                "'name':'sandbox_reset','arguments':{'sandbox':'box'}",
                "'name':'sandbox_list','arguments':{'namespace':'default'}",
                "'name':'sandbox_get_metrics','arguments':{'namespace':'*','sandbox':'box'}",
                "'name':'sandbox_read_file','arguments':{'sandbox':'box','path':'a','encoding':'base64','offset':1,'length':9}",
                "'name':'sandbox_write_file','arguments':{'sandbox':'box','path':'a','content':'AAAA','encoding':'base64','offset':0}",
                "'name':'sandbox_list_files','arguments':{'sandbox':'box','path':'.','recursive':true}",
                "'name':'sandbox_manage_files','arguments':{'sandbox':'box','action':'move','path':'a','to':'b'}");
    }

    private static List<byte[]> legacy(String call) {
        return Stream.of("{'jsonrpc':'2.0','id':1,%s}".formatted(call), "2025-11-25")
                .map(McpFuzzTest::bytes)
                .toList();
    }

    private static List<byte[]> modern(String call) {
        String meta = "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                + "'io.modelcontextprotocol/clientCapabilities':{}}";
        String params = call.contains("'params':{")
                ? call.replace("'params':{", "'params':{" + meta + ",")
                : call + ",'params':{" + meta + "}";
        ObjectNode said = (ObjectNode) PLAIN.readTree("{%s}".formatted(params).replace('\'', '"'));
        String body = "{'jsonrpc':'2.0','id':'x',%s}".formatted(params);
        return Stream.of(
                        body,
                        "2026-07-28",
                        said.path("method").asString(),
                        said.at("/params/name").asString(said.at("/params/uri").asString("")))
                .map(McpFuzzTest::bytes)
                .toList();
    }

    private static byte[] bytes(String text) {
        return text.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }
}
