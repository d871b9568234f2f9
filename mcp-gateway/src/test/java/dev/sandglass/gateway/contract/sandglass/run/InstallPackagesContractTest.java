package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code sandbox_install_packages} as callers see it; what the installers do is the supervisor's tests'. */
class InstallPackagesContractTest {

    private static final String TOOL = "sandbox_install_packages";

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode install(Object packages) throws Exception {
        return gateway.call(
                TOOL, JsonMapper.shared().writeValueAsString(Map.of("sandbox", "box", "packages", packages)));
    }

    private JsonNode call(String more) throws Exception {
        return gateway.call(TOOL, "{\"sandbox\":\"box\"%s}".formatted(more.replace('\'', '"')));
    }

    private static String refusal(JsonNode result) {
        assertThat(result.path("isError").asBoolean()).isTrue();
        return TestGateway.text(result);
    }

    private List<Verb.Install> installs() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.Install.class::isInstance)
                .map(Verb.Install.class::cast)
                .toList();
    }

    @Test
    void theFirstLineSaysWhatWasInstalled() throws Exception {
        JsonNode result = install(List.of("pandas >= 2", "made/a b.whl"));

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(TestGateway.text(result))
                .isEqualTo("installer of python\n" + FencedText.FENCE + "\nInstalled pandas >= 2, made/a b.whl.");
        JsonNode facts = result.path("structuredContent");
        assertThat(facts.path("status").asString()).isEqualTo("ok");
        assertThat(facts.path("exit_code").asInt(-1)).isZero();
        assertThat(facts.path("stdout").asString()).isEqualTo("installer of python\n");
        assertThat(installs()).singleElement().satisfies(verb -> {
            assertThat(verb.packages()).containsExactly("pandas >= 2", "made/a b.whl");
            assertThat(verb.timeout()).isEqualTo(Duration.ofMinutes(2));
        });
    }

    @Test
    void aFailureSaysWhatToDo() throws Exception {
        JsonNode result = install(List.of("missing"));

        assertThat(refusal(result))
                .startsWith("[exit code 1] What to do.\ninstaller of python\n" + FencedText.FENCE + "\n")
                .endsWith("Could not install missing.");
        assertThat(result.path("structuredContent").path("message").asString()).isEqualTo("What to do.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nodejs", "node", "javascript"})
    void packagesOfNodeAreInstalledUnderAllItsNames(String language) throws Exception {
        JsonNode result = call(",'packages':['a'],'language':'%s','timeout':7".formatted(language));

        assertThat(TestGateway.text(result)).startsWith("installer of nodejs").endsWith("\nInstalled a.");
        assertThat(installs()).singleElement().satisfies(verb -> {
            assertThat(verb.language()).isEqualTo("nodejs");
            assertThat(verb.timeout()).isEqualTo(Duration.ofSeconds(7));
        });
    }

    @Test
    void aLongInstallationIsReadOn() throws Exception {
        JsonNode waited = call(",'packages':['hang'],'wait':0");
        JsonNode background = call(",'packages':['a'],'background':true");

        for (JsonNode result : List.of(waited, background)) {
            assertThat(result.path("structuredContent").path("status").asString())
                    .isEqualTo("running");
            assertThat(TestGateway.text(result))
                    .startsWith("[running]\n" + FencedText.FENCE)
                    .contains("sandbox_get_execution");
        }
    }

    @Test
    void sixtyFourPackagesOfFiveHundredTwelveCharactersAreTaken() throws Exception {
        JsonNode result = install(Collections.nCopies(64, "a".repeat(512)));

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(refusal(install(Collections.nCopies(65, "a")))).contains("'packages' must be a list of at most 64");
        assertThat(refusal(install(List.of("a", "b".repeat(513)))))
                .contains("'packages[1]' must have at most 512 characters, has 513");
        assertThat(installs()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-r requirements.txt",
                "--index-url=https://example.com/simple",
                "-",
                "a --pre",
                "a; rm -rf",
            })
    void optionsAreRefused(String text) throws Exception {
        assertThat(refusal(install(List.of("a", text)))).contains("'packages[1]'", "options", "sandbox_run_command");
        assertThat(installs()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", " a", "a ", "a\nb", "a\tb", "a\u001b[0m", "a\u2028b", "a\u00a0b", "a\u200bb"})
    void whatCannotBeReadIsRefused(String text) throws Exception {
        assertThat(refusal(install(List.of(text)))).contains("'packages[0]'", "printable");
        assertThat(installs()).isEmpty();
    }

    @Test
    void otherBadArgumentsNameTheirField() throws Exception {
        assertThat(refusal(call(""))).contains("Missing required 'packages' parameter");
        assertThat(refusal(call(",'packages':[]"))).contains("'packages' must name at least one");
        assertThat(refusal(call(",'packages':'a b'"))).contains("'packages' must be a list");
        assertThat(refusal(call(",'packages':[7]"))).contains("'packages[0]' must be a text");
        assertThat(refusal(call(",'packages':['a'],'language':'ruby'"))).contains("Unsupported language: ruby");
        assertThat(refusal(call(",'packages':['a'],'envs':{}"))).contains("envs");
        assertThat(installs()).isEmpty();
    }
}
