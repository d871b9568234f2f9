package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import dev.sandglass.e2e.support.Tenant;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that people use, as they are, with a host that is allowed and with one that is not. They learn of the proxy and
 * of the site's authorities from their environment alone. The hosts are the package registries: real ones, over TLS.
 */
class EgressClientsE2E {

    /** Node's older library, for a HOST. */
    static final String NODE_HTTPS =
            "node -e 'require(\"https\").get(\"https://HOST/\", a => { console.log(\"status\", a.statusCode);"
                    + " a.destroy() })' 2>&1";

    private static final String DENIED = "denied.example";
    private static final int OWN_PORT = 8123;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final Kubectl KUBECTL = Kubectl.of(INSTALLATION);
    private static Registries registries = new Registries("", "", "");
    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        assumeTrue(new EgressProxyPods(TENANT.kubernetes()).isInstalled(), "egressProxy.enabled is false");
        sandbox = SANDBOXES.start();
        registries = Registries.knownTo(SANDBOXES.agent(), sandbox);
        KUBECTL.patch(sandbox, "{\"allowedDomains\":" + Attack.json(registries.all()) + "}");
        Registries.awaitAllowed(SANDBOXES.agent(), sandbox, registries.all());
        Answer installed = SANDBOXES
                .agent()
                .call("sandbox_install_packages", Map.of("sandbox", sandbox, "packages", List.of("httpx", "aiohttp")));
        assertThat(installed.status()).as(installed.text()).isEqualTo("ok");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    /** What a program prints that fetches a page of a host: its status, or why not. */
    private static Map<String, String> programs() {
        var programs = new LinkedHashMap<String, String>();
        programs.put("curl", "curl -sS -o /dev/null -w 'status %{http_code}' https://HOST/ 2>&1");
        programs.put("curl, plain HTTP", "curl -sS -o /dev/null -w 'status %{http_code}' http://HOST/ 2>&1");
        programs.put("urllib", python("""
                import urllib.request
                print("status", urllib.request.urlopen("https://HOST/").status)"""));
        programs.put("requests", python("""
                import requests
                print("status", requests.get("https://HOST/").status_code)"""));
        programs.put("httpx", python("""
                import httpx
                print("status", httpx.get("https://HOST/").status_code)"""));
        programs.put("aiohttp, told to trust the environment", python("""
                import aiohttp, asyncio
                async def main():
                    async with aiohttp.ClientSession(trust_env=True) as session, session.get("https://HOST/") as answer:
                        print("status", answer.status)
                asyncio.run(main())"""));
        programs.put(
                "Node's fetch", "node -e 'fetch(\"https://HOST/\").then(a => console.log(\"status\", a.status))' 2>&1");
        programs.put("Node's https", NODE_HTTPS);
        return programs;
    }

    /** A program in Python as a line for the shell. */
    static String python(String code) {
        return "python3 - 2>&1 <<'CODE'\n" + code + "\nCODE";
    }

    private String shell(String script) {
        return words(agent.command(sandbox, "bash", "-c", script));
    }

    private String shellOnceDnsSays(String script) {
        return words(OnceDnsSays.of(() -> agent.command(sandbox, "bash", "-c", script)));
    }

    private static String words(Answer answer) {
        return answer.stdout() + answer.stderr();
    }

    @TestFactory
    Stream<DynamicTest> aProgramReachesAnAllowedHostAndNoOther() {
        return programs().entrySet().stream()
                .map(program -> DynamicTest.dynamicTest(program.getKey(), () -> {
                    assertThat(shellOnceDnsSays(program.getValue().replace("HOST", registries.pythonIndex())))
                            .containsPattern("status [2-4]\\d\\d")
                            .doesNotContain("403");
                    assertThat(shell(program.getValue().replace("HOST", DENIED)))
                            .contains("403")
                            .doesNotContainPattern("status 2\\d\\d");
                }));
    }

    /** Nobody would allow that host; the egress proxy would refuse all of them. */
    @TestFactory
    Stream<DynamicTest> aProgramReachesItsOwnSandboxWithoutTheProxy() {
        shell("setsid python3 -m http.server %d --bind 0.0.0.0 >/dev/null 2>&1 </dev/null &".formatted(OWN_PORT));
        // With -S it would print each failure before the server is there.
        assertThat(shell("curl -s --retry 20 --retry-connrefused --retry-delay 1 -o /dev/null -w 'status %{http_code}'"
                        + " http://127.0.0.1:%d/".formatted(OWN_PORT)))
                .endsWith("status 200");
        List<String> own = List.of(
                "localhost",
                "127.0.1.1",
                "0.0.0.0",
                "sandbox",
                shell("hostname -i").strip());
        Map<String, String> programs = programs();
        // It speaks nothing but TLS.
        programs.values().remove(NODE_HTTPS);
        return programs.entrySet().stream()
                .map(program -> DynamicTest.dynamicTest(program.getKey(), () -> {
                    for (String name : own) {
                        assertThat(shell(program.getValue()
                                        .replaceAll("https?://HOST/", "http://" + name + ":" + OWN_PORT + "/")))
                                .as(name)
                                .contains("status 200");
                    }
                }));
    }

    /** Its server is no git server, and says so itself; what is denied never gets that far. */
    @Test
    void gitReachesAnAllowedHostAndNoOther() {
        assertThat(shellOnceDnsSays("git ls-remote https://%s/none.git".formatted(registries.pythonIndex())))
                .containsPattern("not found|returned error: 4\\d\\d|not valid")
                .doesNotContain("403", "CONNECT");
        assertThat(shell("git ls-remote https://%s/none.git".formatted(DENIED)))
                .contains("CONNECT tunnel failed, response 403");
    }

    @Test
    void pipAndNpmLoadRealPackages() {
        assertThat(shell("pip download --no-deps --dest /tmp/loaded six && ls /tmp/loaded"))
                .containsPattern("six-.*\\.whl");
        assertThat(shell("npm view is-number name")).contains("is-number");
    }

    /** The runtime of our own images; those of sandboxes have none. It cannot send the credential, and need not. */
    @Test
    void javasHttpClientReachesAnAllowedHostAndNoOther(@TempDir Path folder) throws Exception {
        assumeTrue(
                INSTALLATION.root().resolve("build/java-runtime").toFile().exists(),
                "no build/java-runtime: make images");
        String pod = TENANT.podOf(sandbox).getMetadata().getName();
        KUBECTL.run("cp", INSTALLATION.root().resolve("build/java-runtime").toString(), pod + ":/workspace/java");
        KUBECTL.run("cp", JavaClient.compiled(folder).toString(), pod + ":/workspace/JavaClient.class");

        assertThat(shellOnceDnsSays("java/bin/java -cp . JavaClient https://" + registries.pythonIndex() + "/"))
                .containsPattern("status [2-4]\\d\\d");
        assertThat(shell("java/bin/java -cp . JavaClient https://" + DENIED + "/"))
                .contains("failed")
                .doesNotContain("status");
    }

    /** The whole way of an agent that lacks a package: refused with the words that help, then allowed, then installed. */
    @Test
    void packagesComeFromTheRealRegistriesWithJustTheirDomainsAllowed() {
        String fresh = SANDBOXES.start();
        Map<String, Object> python = Map.of("sandbox", fresh, "packages", List.of("six"));
        Map<String, Object> node = Map.of("sandbox", fresh, "language", "nodejs", "packages", List.of("is-number"));
        for (Map<String, Object> call : List.of(python, node)) {
            Answer refused = agent.call("sandbox_install_packages", call);
            assertThat(refused.status()).as(refused.text()).isEqualTo("error");
            assertThat(refused.text()).contains("allowed_domains", "spec.allowedDomains");
        }

        KUBECTL.patch(fresh, "{\"allowedDomains\":" + Attack.json(registries.all()) + "}");
        Registries.awaitAllowed(agent, fresh, registries.all());

        for (Map<String, Object> call : List.of(python, node)) {
            Answer installed = agent.call("sandbox_install_packages", call);
            assertThat(installed.status()).as(installed.text()).isEqualTo("ok");
        }
        assertThat(agent.python(fresh, "import six; six.__name__").result()).isEqualTo("'six'");
        assertThat(agent.call(
                                "sandbox_run_code",
                                Map.of("sandbox", fresh, "language", "nodejs", "code", "require('is-number')(7)"))
                        .result())
                .isEqualTo("true");
    }
}
