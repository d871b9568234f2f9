package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.Tenant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Programs that know of no proxy, in an installation with {@code egressProxy.splitDns}: e2e/split-dns turns it on and runs
 * this. The hosts are the package registries: real ones, over TLS.
 */
@EnabledIfSystemProperty(named = "sandglass.e2e.splitDns", matches = "true")
class SplitDnsE2E {

    private static final String DENIED = "denied.example";

    /** Without the variables that tell a program of the proxy. */
    private static final String UNTOLD = "for v in $(env | cut -d= -f1 | grep -i proxy); do unset $v; done; ";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final EgressProxyPods PROXY = new EgressProxyPods(TENANT.kubernetes());
    private static String sandbox = "";
    private static String allowed = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        Registries registries = Registries.knownTo(SANDBOXES.agent(), SANDBOXES.start());
        allowed = registries.pythonIndex();
        sandbox = SANDBOXES.start(Map.of("allowed_domains", List.of(allowed, registries.pythonFiles())));
        Answer installed = SANDBOXES
                .agent()
                .call("sandbox_install_packages", Map.of("sandbox", sandbox, "packages", List.of("aiohttp")));
        assertThat(installed.status()).as(installed.text()).isEqualTo("ok");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private String shell(String script) {
        Answer answer = agent.command(sandbox, "bash", "-c", UNTOLD + script);
        return answer.stdout() + answer.stderr();
    }

    private String printed(String code) {
        Answer answer = agent.python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout().strip();
    }

    private static Map<String, String> programs() {
        var programs = new LinkedHashMap<String, String>();
        programs.put("curl", "curl -sS -o /dev/null -w 'status %{http_code}' https://HOST/ 2>&1");
        programs.put("curl, plain HTTP", "curl -sS -o /dev/null -w 'status %{http_code}' http://HOST/ 2>&1");
        programs.put("aiohttp as it is", EgressClientsE2E.python("""
                import aiohttp, asyncio
                async def main():
                    async with aiohttp.ClientSession() as session, session.get("https://HOST/") as answer:
                        print("status", answer.status)
                asyncio.run(main())"""));
        programs.put("Node's https", EgressClientsE2E.NODE_HTTPS);
        return programs;
    }

    @TestFactory
    Stream<DynamicTest> aProgramThatKnowsNoProxyReachesAnAllowedHostAndNoOther() {
        return programs().entrySet().stream()
                .map(program -> DynamicTest.dynamicTest(program.getKey(), () -> {
                    assertThat(shell(program.getValue().replace("HOST", allowed)))
                            .containsPattern("status [2-4]\\d\\d");
                    assertThat(shell(program.getValue().replace("HOST", DENIED)))
                            .isNotEmpty()
                            .doesNotContainPattern("status [1-9]");
                }));
    }

    @Test
    void anAllowedNameLeadsToTheProxyAndADeniedOneDoesNotExist() {
        String resolve = "import socket\nprint(sorted({a[4][0] for a in socket.getaddrinfo('%s', 443)}))";

        assertThat(printed(resolve.formatted(allowed))).isEqualTo("['" + PROXY.serviceAddress() + "']");
        Answer denied = agent.python(sandbox, resolve.formatted("named." + DENIED));
        assertThat(denied.object("error").toString()).contains("gaierror");
        assertThat(denied.list("denied_hosts").toString()).contains("named." + DENIED);
    }

    /** The name in the TLS hello is what counts, whatever was asked of DNS before. */
    @Test
    void aServerNameThatIsNotAllowedIsRefused() {
        String hello = """
                import socket, ssl
                context = ssl._create_unverified_context()
                def hello(name):
                    with socket.create_connection(("%1$s", 443), timeout=20) as connection:
                        try:
                            context.wrap_socket(connection, server_hostname=name).close()
                            return "reached"
                        except OSError as error:
                            return str(error)
                print(hello("%2$s"), "|", hello("%3$s"), "|", hello(None))
                """.formatted(allowed, allowed, DENIED);

        List<String> answers = List.of(printed(hello).split(" \\| "));

        assertThat(answers.getFirst()).as("control").isEqualTo("reached");
        assertThat(answers.subList(1, 3))
                .allSatisfy(answer -> assertThat(answer).containsIgnoringCase("access denied"));
    }

    @Test
    void whatIsNotWebIsNotServed() {
        assertThat(printed("""
                import socket
                def reached(port):
                    try:
                        socket.create_connection(("%s", port), timeout=3).close()
                        return True
                    except OSError:
                        return False
                print([port for port in (22, 80, 443, 5432, 8080, 8443, 5353) if reached(port)])
                """.formatted(allowed))).isEqualTo("[80, 443]");
    }
}
