package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which sandbox the calls to an endpoint mean, and how it is made; at {@code /mcp/ipython}, for all of them. */
@SuppressWarnings("NullAway.Init")
class SandboxOfSessionTest {

    private static final String CELL = "{'session':'s','code':'print 42'}";

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private EndpointClient at(String query) {
        return EndpointClient.of(gateway, "/mcp/ipython" + query);
    }

    @Test
    void aSessionIsTheNameOfASandbox() throws Exception {
        EndpointClient client = at("").initialized();
        String id = client.session().orElseThrow();
        assertThat(id).matches("ipython-[a-z2-7]{48}");
        assertThat(gateway.sandboxes.orders).isEmpty();

        assertThat(client.data("execute", CELL).path("stdout").asString()).isEqualTo("42");
        client.call("execute", CELL);

        assertThat(gateway.sandboxes.orders).containsExactly("start sandglass-default/" + id + " by alice");
        assertThat(gateway.sandboxes.configs).containsExactly(SandboxConfig.UNCHANGED);
    }

    @Test
    void eachClientHasItsOwn() throws Exception {
        at("").initialized().call("execute", CELL);
        at("").initialized().call("execute", CELL);

        assertThat(gateway.sandboxes.orders).doesNotHaveDuplicates().hasSize(2);
    }

    @Tag("slow")
    @Test
    void anyReplicaKnowsTheSessionsOfTheOthers() throws Exception {
        String id = at("").initialized().session().orElseThrow();
        try (TestGateway other = TestGateway.start()) {
            EndpointClient client = EndpointClient.of(other, "/mcp/ipython").withSession(id);
            assertThat(client.data("execute", CELL).path("stdout").asString()).isEqualTo("42");
            assertThat(client.delete().statusCode()).isEqualTo(204);
        }
    }

    @Test
    void whoHasNoSessionHasTheCallersOwn() throws Exception {
        at("").call("execute", CELL);
        String modern = """
                {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute",\
                "arguments":{"session":"s","code":"print 42"},"_meta":{\
                "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}""";
        HttpRequest.Builder request = gateway.post(modern)
                .uri(URI.create(gateway.base() + "/mcp/ipython"))
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", "tools/call")
                .header("Mcp-Name", "execute");
        assertThat(gateway.send(request).statusCode()).isEqualTo(200);

        assertThat(gateway.sandboxes.orders).containsExactly("start sandglass-default/ipython-alice by alice");
    }

    @Test
    void theUrlNamesOne() throws Exception {
        gateway.sandboxes.addRunning("box");
        EndpointClient client = at("?sandbox=box").initialized();
        client.call("execute", CELL);
        assertThat(gateway.sandboxes.orders).isEmpty();

        // Such a one outlives its clients, whose session is a name for cancellations alone.
        assertThat(client.session().orElseThrow()).doesNotStartWith("ipython-");
        assertThat(client.delete().statusCode()).isEqualTo(405);
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void theUrlNamesTheTenant() throws Exception {
        at("?namespace=other").withKey(TestGateway.OTHER_KEY).call("execute", CELL);
        assertThat(gateway.sandboxes.orders).containsExactly("start sandglass-other/ipython-bob by bob");

        assertThat(TestGateway.text(at("?namespace=other").call("execute", CELL)))
                .startsWith("Error: Namespace 'other' does not exist.");
    }

    @Test
    void aNewOneIsMadeAsTheUrlSays() throws Exception {
        at("?memory=1Gi&cpus=2&disk=4Gi&image=microsandbox%2Fpython&env=A=1+1&env=B=%20b%26&allowed_domains=example.com,"
                        + "*.example.org&allowed_domains=192.0.2.0/24&idle_timeout=30m&max_lifetime=7200&retention=2h"
                        + "&runtime_class=gvisor&workspace=5Gi&structured=true")
                .call("execute", CELL);

        SandboxConfig made = gateway.sandboxes.configs.getFirst();
        assertThat(made.memory()).isEqualTo("1Gi");
        assertThat(made.cpus()).isEqualTo("2");
        assertThat(made.disk()).isEqualTo("4Gi");
        assertThat(made.image()).isEqualTo("microsandbox/python");
        assertThat(made.env()).isEqualTo(Map.of("A", "1+1", "B", " b&"));
        assertThat(made.allowedDomains()).isEqualTo(List.of("example.com", "*.example.org", "192.0.2.0/24"));
        assertThat(made.idleTimeout()).isEqualTo("30m");
        assertThat(made.maxLifetime()).isEqualTo("7200s");
        assertThat(made.retention()).isEqualTo("2h");
        assertThat(made.runtimeClass()).isEqualTo("gvisor");
        assertThat(made.workspace()).isNotNull();
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "memory=1Ki | 'memory' must be between",
                "memory=x | 'memory' must be a number",
                "cpus=100000 | 'cpus' must be between",
                "disk=0 | 'disk' must be a number",
                "workspace=1Ki | 'workspace' must be between",
                "env=A | 'env[0]' must be of the form KEY=VALUE",
                "env=1A=x | 'env': ",
                "allowed_domains=a.example.com,http://b | 'allowed_domains[1]': ",
                "idle_timeout=soon | 'idle_timeout' ",
                "idle_timeout=1 | 'idle_timeout' ",
                "max_lifetime=-1 | 'max_lifetime' ",
                "retention=x | 'retention' ",
                "image=a%20b | 'image' must be the name of an image",
                "runtime_class=A_B | 'runtime_class': ",
                "memory=1Gi&memory=2Gi | 'memory' must be given once",
                "sandbox=a&sandbox=b | 'sandbox' must be given once",
                "momory=1Gi | 'momory' is not known; known are allowed_domains, cpus",
                "structured=1 | 'structured' in the URL must be true or false",
            })
    void whatTheUrlSaysIsCheckedLikeArguments(String query, String why) throws Exception {
        var response = at("?" + query).answer("execute", CELL);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(gateway.json(response).at("/error/message").asString())
                .startsWith("Invalid request: ")
                .contains(why)
                .doesNotContain("config");
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void theBoundsOfTheUrlAreThoseOfArguments() throws Exception {
        String image = "x".repeat(512);
        assertThat(at("?image=" + image).answer("execute", CELL).statusCode()).isEqualTo(200);
        assertThat(at("?image=" + image + "x").answer("execute", CELL).statusCode())
                .isEqualTo(400);
    }

    /** Attack: whoever guesses, changes, steals or keeps an id gets no sandbox by it. */
    @Tag("slow")
    @Test
    void onlyAnIdOfThisCallerIsASession() throws Exception {
        EndpointClient client = at("").initialized();
        String id = client.session().orElseThrow();
        char last = id.charAt(id.length() - 1);
        List<String> forged = List.of(
                "ipython-" + "a".repeat(48),
                id.substring(0, id.length() - 1),
                id + "a",
                id.substring(0, id.length() - 1) + (last == 'a' ? 'b' : 'a'),
                id.toUpperCase(Locale.ROOT),
                "ipython-alice",
                "box",
                id.replace("ipython-", "ipybox-"));

        for (String each : forged) {
            assertRefused(client.withSession(each));
        }
        assertRefused(client.withKey(TestGateway.OTHER_KEY));
        assertThat(gateway.sandboxes.orders).isEmpty();

        // The control: the id itself is one.
        assertThat(client.answer("execute", CELL).statusCode()).isEqualTo(200);
        assertThat(gateway.sandboxes.orders).hasSize(1);
    }

    private void assertRefused(EndpointClient client) throws Exception {
        var call = client.answer("execute", CELL);
        assertThat(call.statusCode()).as(client.toString()).isEqualTo(404);
        assertThat(gateway.json(call).at("/error/message").asString()).contains("begin a new one with 'initialize'");
        assertThat(client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")
                        .statusCode())
                .isEqualTo(404);
        assertThat(client.delete().statusCode()).isEqualTo(404);
    }

    @Test
    void itsEndDeletesTheSandboxAndItIsNoneAnyLonger() throws Exception {
        EndpointClient client = at("").initialized();
        client.call("execute", CELL);
        String id = client.session().orElseThrow();

        assertThat(client.delete().statusCode()).isEqualTo(204);

        assertThat(gateway.sandboxes.orders).contains("delete " + id);
        assertRefused(client);
        assertThat(gateway.sandboxes.orders).hasSize(2);
    }

    @Test
    void oneThatWasNeverUsedEndsToo() throws Exception {
        EndpointClient client = at("").initialized();

        assertThat(client.delete().statusCode()).isEqualTo(204);
        assertThat(client.delete().statusCode()).isEqualTo(404);
    }

    @Tag("slow")
    @Test
    void whereThereIsNoSessionNoneEnds() throws Exception {
        assertThat(at("").delete().statusCode()).isEqualTo(405);
        assertThat(at("").delete().headers().firstValue("Allow")).contains("POST, DELETE");
        EndpointClient ours = EndpointClient.of(gateway, "/mcp").initialized();
        assertThat(ours.delete().statusCode()).isEqualTo(405);
        assertThat(ours.delete().headers().firstValue("Allow")).contains("POST");
    }

    @Test
    void aPageMayEndItsSession() throws Exception {
        HttpRequest.Builder preflight = HttpRequest.newBuilder(URI.create(gateway.base() + "/mcp/ipython"))
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .header("Origin", TestGateway.ORIGIN);
        assertThat(gateway.send(preflight).headers().firstValue("Access-Control-Allow-Methods"))
                .contains("POST, DELETE");
    }
}
