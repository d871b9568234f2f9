package dev.sandglass.gateway.contract.dropin.ipybox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The rows I8 to I14 of the contracts at {@code /mcp/ipybox}, before a stand-in for the supervisor. */
@SuppressWarnings("NullAway.Init")
class IpyboxContractTest {

    private static final String CELL = "execute_ipython_cell";
    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");

    private TestGateway gateway;
    private EndpointClient client;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private String text(String tool, String arguments) throws Exception {
        return TestGateway.text(client.call(tool, arguments));
    }

    private <T extends Verb> List<T> asked(Class<T> kind) {
        return gateway.supervisor.verbs.stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    @Test
    void i8ToI13TheToolsAndTheirParameters() throws Exception {
        var answer = client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
        JsonNode tools = gateway.json(answer).at("/result/tools");

        assertThat(tools.valueStream().map(tool -> tool.path("name").asString()))
                .containsExactly("execute_ipython_cell", "install_package", "reset", "register_mcp_server");
        assertThat(tools.at("/0/inputSchema/properties").propertyNames())
                .containsExactly("code", "timeout", "max_output_chars");
        assertThat(tools.at("/0/inputSchema/required").toString()).isEqualTo("[\"code\"]");
        assertThat(tools.at("/1/inputSchema/required").toString()).isEqualTo("[\"package_name\"]");
        assertThat(answer.body()).doesNotContain("sandbox_");
    }

    @Test
    void i8TheTimeoutIsTwoMinutesUnlessTheCallSaysMore() throws Exception {
        text(CELL, "{'code':'print 1'}");
        text(CELL, "{'code':'print 1','timeout':0.5}");

        assertThat(asked(Verb.Execute.class))
                .extracting(verb -> verb.timeout().toMillis())
                .containsExactly(120_000L, 500L);
        assertThat(asked(Verb.Execute.class)).extracting(Verb.Execute::session).containsOnly("default");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{'code':'print 1','timeout':0.1} | 1",
                "{'code':'print 1','timeout':0.09} | Error: 'timeout' must be a number of seconds from 0.1 to 3600",
                "{'code':'print 1','timeout':3600} | 1",
                "{'code':'print 1','timeout':3601} | Error: 'timeout' must be a number of seconds from 0.1 to 3600",
                "{'code':'print 1','max_output_chars':1} | 1",
                "{'code':'print 1','max_output_chars':0} | Error: 'max_output_chars' must be a whole number from 1 to 300000",
                "{'code':'print 1','max_output_chars':300000} | 1",
                "{'code':'print 1','max_output_chars':300001} | Error: 'max_output_chars' must be a whole number from 1 to 300000",
                "{} | Error: Missing required 'code' parameter",
            })
    void i8TheArgumentsHaveBounds(String arguments, String told) throws Exception {
        assertThat(text(CELL, arguments)).isEqualTo(told);
    }

    @Test
    void i9TheResultIsOneText() throws Exception {
        JsonNode result = client.call(CELL, "{'code':'print 42'}");
        assertThat(TestGateway.text(result)).isEqualTo("42");
        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.has("structuredContent")).isFalse();
        assertThat(text(CELL, "{'code':'pass'}")).isEqualTo("(no output)");

        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box&structured=true");
        assertThat(client.call(CELL, "{'code':'print 42'}")
                        .at("/structuredContent/result")
                        .asString())
                .isEqualTo("42");
    }

    @Test
    void i9WhatIsTooLongIsInAFile() throws Exception {
        String long5000 = "x".repeat(5000);
        assertThat(text(CELL, "{'code':'print %s'}".formatted(long5000))).isEqualTo(long5000);
        assertThat(gateway.supervisor.files.asked).isEmpty();

        String cut = text(CELL, "{'code':'print %sy'}".formatted(long5000));

        assertThat(cut).hasSizeLessThan(5200).contains("\n[Output truncated: exceeded 5000 character limit]\n");
        assertThat(cut).containsPattern("More of it is in /workspace/outputs/[a-z2-7]{16}\\.txt$");
        assertThat(gateway.supervisor.files.asked).hasOnlyElementsOfType(FileOperation.Write.class);
    }

    @Test
    void i9PicturesAreFilesOfTheWorkspaceToo() throws Exception {
        JsonNode result = client.call(CELL, "{'code':'draw 3'}");

        assertThat(TestGateway.text(result))
                .matches("Generated images:\n\n- \\[Generated image]\\(/workspace/images/[a-z2-7]{16}-1\\.png\\)");
        assertThat(result.at("/content/1/data").asString()).isEqualTo("AAAA");
        assertThat(gateway.supervisor.files.asked).singleElement().satisfies(asked -> assertThat(asked.toString())
                .contains("images/"));
    }

    /** The cell has run: that its picture is not kept must not hide that. */
    @Test
    void i9APictureThatCannotBeKeptIsShownAllTheSame() throws Exception {
        gateway.supervisor.files.answerNext("{\"error\":\"full\"}", new byte[0]);
        JsonNode result = client.call(CELL, "{'code':'draw 3'}");

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.at("/content/1/data").asString()).isEqualTo("AAAA");
    }

    @Test
    void i10AnErrorHasItsTraceback() throws Exception {
        JsonNode result = client.call(CELL, "{'code':'raise'}");
        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).isEqualTo("Traceback");
    }

    @ParameterizedTest
    @ValueSource(strings = {"pandas", "pandas>=2,<3", "git+https://example.com/a/b.git@main", "/workspace/a b.whl"})
    void i12PackagesGoToTheInstaller(String name) throws Exception {
        assertThat(text("install_package", "{'package_name':'%s'}".formatted(name)))
                .isEqualTo("installer of python");
        assertThat(asked(Verb.Install.class)).extracting(Verb.Install::packages).containsExactly(List.of(name));
    }

    @Test
    void i12WhatIsNoPackageIsRefusedAndWhatFailsIsAnError() throws Exception {
        assertThat(text("install_package", "{'package_name':'--pre x'}"))
                .startsWith("Error: 'package_name' must be a package, a URL or a path")
                .contains("!pip install");
        assertThat(text("install_package", "{}")).isEqualTo("Error: Missing required 'package_name' parameter");
        assertThat(text("install_package", "{'package_name':'%s'}".formatted("x".repeat(512))))
                .isEqualTo("installer of python");
        assertThat(text("install_package", "{'package_name':'%s'}".formatted("x".repeat(513))))
                .startsWith("Error: 'package_name' must have at most 512 characters");

        JsonNode missing = client.call("install_package", "{'package_name':'missing'}");
        assertThat(missing.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(missing)).isEqualTo("installer of python\nWhat to do.");
    }

    @Test
    void i13ResetMeansTheKernel() throws Exception {
        assertThat(text("reset", "{}")).startsWith("The kernel is new");
        assertThat(asked(Verb.Reset.class)).extracting(Verb.Reset::session).containsExactly("default");

        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThat(text("reset", "{}")).startsWith("The kernel is new");
        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=none");
        assertThat(text("reset", "{}")).startsWith("The kernel is new");
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void i14OnlyVariablesForTheKernelReachIt() throws Exception {
        client = EndpointClient.of(gateway, "/mcp/ipybox?env=KERNEL_ENV_A=1&env=KERNEL_ENV_B=2");
        text(CELL, "{'code':'print 1'}");
        assertThat(gateway.sandboxes.configs.getFirst().env()).isEqualTo(Map.of("A", "1", "B", "2"));

        for (String odd : List.of("A=1", "KERNEL_ENV_=1", "KERNEL_ENV_1A=x")) {
            var refused = EndpointClient.of(gateway, "/mcp/ipybox?env=" + odd).answer(CELL, "{'code':'print 1'}");
            assertThat(refused.statusCode()).as(odd).isEqualTo(400);
            assertThat(gateway.json(refused).at("/error/message").asString())
                    .startsWith("Invalid request: in the URL: 'env': ");
        }
    }

    @Test
    void aSandboxThatWasNotThereIsNewAndLostVariablesAreTold() throws Exception {
        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=bxo");
        assertThat(text(CELL, "{'code':'print 1'}")).endsWith("\nSandbox 'bxo' was not there: this one is new.");

        client = EndpointClient.of(gateway, "/mcp/ipybox?sandbox=box");
        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThat(text(CELL, "{'code':'print 1'}"))
                .endsWith(
                        "The sandbox had been suspended (Idle) and was resumed: variables of earlier cells are lost.");
    }

    @Test
    void aSessionOfMcpIsASandbox() throws Exception {
        client = EndpointClient.of(gateway, "/mcp/ipybox").initialized();
        assertThat(text(CELL, "{'code':'print 1'}")).isEqualTo("1");
        assertThat(gateway.sandboxes.orders)
                .containsExactly("start sandglass-default/" + client.session().orElseThrow() + " by alice");
        assertThat(client.delete().statusCode()).isEqualTo(204);
    }
}
