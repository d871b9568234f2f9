package dev.sandglass.gateway.contract.dropin.ipybox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The rows I6 and I7 of the contracts at {@code /mcp/ipybox}, before a stand-in for the supervisor. */
@SuppressWarnings("NullAway.Init")
class RegisterMcpServerContractTest {

    private static final String REGISTER = "register_mcp_server";

    private TestGateway gateway;
    private EndpointClient client;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.servers.listed = "{\"servers\":[]}";
        gateway.shared.add("uid-box", "sandglass-default", Map.of(SandboxLabels.SANDBOX_UID, "uid-box"));
        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode register(String params) throws Exception {
        return client.call(REGISTER, "{'server_name':'web','server_params':%s}".formatted(params));
    }

    private List<Registration> registered() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.RegisterServer.class::isInstance)
                .map(verb -> ((Verb.RegisterServer) verb).registration())
                .toList();
    }

    @Test
    void i6AnswersTheModulesOfTheTools() throws Exception {
        JsonNode answer = register("{'command':'npx','args':['-y','x']}");

        assertThat(TestGateway.text(answer)).isEqualTo("[\"search\",\"fetch_url\"]");
        assertThat(answer.has("structuredContent")).isFalse();
        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box&structured=true");
        assertThat(register("{'command':'npx','args':['-y','x']}")
                        .at("/structuredContent/result/1")
                        .asString())
                .isEqualTo("fetch_url");
        assertThat(registered())
                .hasSize(2)
                .containsOnly(new Registration.Command(
                        "web", "npx", List.of("-y", "x"), Map.of(), "", Duration.ofSeconds(60)));
        assertThat(gateway.agentServers.wanted).isEmpty();
    }

    @Test
    void i6VariablesOfAServerAreOutOfTheCodesReach() throws Exception {
        gateway.supervisor.servers.tools = """
                {"tools":[{"name":"Search-Web","inputSchema":{}},{"name":"fetch","inputSchema":{}}]}""";

        JsonNode answer = register("{'command':'npx','env':{'KEY':'s3cret'},'allowed_domains':['api.example.com']}");

        assertThat(TestGateway.text(answer)).isEqualTo("[\"search_web\",\"fetch\"]");
        assertThat(gateway.agentServers.wanted)
                .containsExactly(new Wanted(
                        new Registration.Command(
                                "web", "npx", List.of(), Map.of("KEY", "s3cret"), "", Duration.ofSeconds(60)),
                        List.of("api.example.com", "packages.example.com"),
                        "alice"));
        // The folder is written before the answer, as of a server in the sandbox.
        assertThat(gateway.supervisor.verbs).last().isEqualTo(new Verb.WriteFunctions("web", Blob.utf8("""
                {"server":"web","tools":[{"name":"Search-Web","inputSchema":{}},{"name":"fetch","inputSchema":{}}],\
                "left_out":0}""")));
    }

    @Test
    void i6AnAddressHasHeaders() throws Exception {
        register("{'type':'http','url':'https://mcp.example.com','headers':{'X-Key':'k'}}");

        assertThat(gateway.agentServers.wanted)
                .extracting(Wanted::registration)
                .containsExactly(new Registration.Url(
                        "web",
                        "https://mcp.example.com",
                        Map.of("X-Key", "k"),
                        Registration.Transport.STREAMABLE_HTTP,
                        Duration.ofSeconds(60)));
    }

    @Test
    void i6PlacedInTheSandboxTheCodeReadsWhatIsGiven() throws Exception {
        JsonNode answer = register("{'command':'npx','env':{'KEY':'s3cret'},'placement':'sandbox'}");

        assertThat(TestGateway.text(answer)).isEqualTo("""
                ["search","fetch_url"]
                --- sandglass ---
                Code in the sandbox can read what you gave in 'env'.""");
        assertThat(gateway.agentServers.wanted).isEmpty();
    }

    @Test
    void i6ARegistrationAgainTakesThePlaceOfTheOneBeforeWhereverItRan() throws Exception {
        register("{'command':'npx','env':{'KEY':'s3cret'}}");

        register("{'command':'npx','env':{'KEY':'s3cret'},'placement':'sandbox'}");

        assertThat(gateway.agentServers.deleted).containsExactly("web-100");
    }

    @Test
    void i6AServerWithoutToolsHasAnEmptyList() throws Exception {
        gateway.supervisor.servers.registered = "{}";

        assertThat(TestGateway.text(register("{'command':'x'}"))).isEqualTo("[]");
    }

    @Test
    void theParametersAreThoseOfIpybox() throws Exception {
        var answer = client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
        JsonNode schema = gateway.json(answer).at("/result/tools/3/inputSchema");

        assertThat(schema.path("required").toString()).isEqualTo("[\"server_name\",\"server_params\"]");
        assertThat(schema.at("/properties/server_params/properties").propertyNames())
                .containsExactly("command", "args", "env", "url", "headers", "placement", "allowed_domains");
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'server_params':{'command':'x'}} | Missing required 'server_name' parameter",
                "{'server_name':'web'} | Missing required 'server_params' parameter",
                "{'server_name':'a b','server_params':{'command':'x'}} | 'server_name' must be a Python identifier",
                "{'server_name':'web','server_params':{}} | Give either 'server_params.command'",
                "{'server_name':'web','server_params':{'command':'x','secret_env':{'A':{'secret':'sandglass-mcp-a','key':'k'}}}} | 'server_params.secret_env' is not known",
                "{'server_name':'web','server_params':{'url':'x','secret_headers':{}}} | 'server_params.secret_headers' is not known",
                "{'server_name':'web','server_params':{'command':'x','env':{'A':{'secret':'sandglass-mcp-a','key':'k'}}}} | 'server_params.env",
                "{'server_name':'web','server_params':{'command':'x','argv':[]}} | 'server_params.argv' is not known",
                "{'server_name':'web','server_params':{'command':'x','url':'y'}} | Give either 'server_params.command'",
                "{'server_name':'web','server_params':{'command':'x','placement':'pod'}} | 'server_params.placement' must be 'own'",
                "{'server_name':'web','server_params':{'command':'x','placement':'sandbox','allowed_domains':['a.b']}} | 'server_params.allowed_domains' belongs to 'server_params.placement' 'own'",
                "{'server_name':'web','server_params':{'command':'x','allowed_domains':['https://a.b']}} | 'server_params.allowed_domains[0]'",
                "{'server_name':'web','server_params':{'url':'https://a.b','headers':{'A B':'c'}}} | 'server_params.headers' must have names",
            })
    void whatBreaksARuleIsRefusedByName(String arguments, String words) throws Exception {
        assertThat(TestGateway.text(client.call(REGISTER, arguments)))
                .startsWith("Error: ")
                .contains(words);
        assertThat(gateway.supervisor.verbs).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'command':'x','env':{'KEY':'${API_KEY}'}} | 'server_params.env.KEY' has ${API_KEY}",
                "{'url':'x','headers':{'Authorization':'Bearer ${API_KEY}'}} | 'server_params.headers.Authorization' has ${API_KEY}",
            })
    void i7APlaceholderIsRefusedByName(String params, String words) throws Exception {
        assertThat(TestGateway.text(register(params))).contains(words, "variables of your machine are not known");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "bad_request | name: 'class' has a meaning of its own | Error: 'server_name' 'class' has a meaning of its own.",
                "bad_request | env.A: must be a text | Error: 'server_params.env.A' must be a text.",
                "mcp_start_failed | it ended | Error: Not registered: it ended.",
                "mcp_timeout | 60 s | Error: Not registered: 60 s.",
            })
    void whyASandboxRefusesIsSaidInWordsOfHere(String code, String said, String told) throws Exception {
        gateway.supervisor.servers.failure = Refusals.of(code, said);

        JsonNode answer = register("{'command':'x'}");

        assertThat(TestGateway.text(answer)).isEqualTo(told);
        assertThat(answer.path("isError").asBoolean()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"unknown_verb", "mcp_too_many", "mcp_unavailable", "no_server"})
    void noRefusalNamesAToolOfAnotherEndpoint(String code) throws Exception {
        gateway.supervisor.servers.failure = Refusals.of(code, "why");

        assertThat(TestGateway.text(register("{'command':'x'}")))
                .startsWith("Error: ")
                .doesNotContain("sandbox_", "mcp_list", "mcp_remove", "'timeout'");
    }
}
