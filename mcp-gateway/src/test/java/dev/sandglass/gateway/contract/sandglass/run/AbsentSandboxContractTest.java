package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** One call from nothing to a result; and code for a shell. */
class AbsentSandboxContractTest {

    private static final String NEW =
            "[new sandbox] There was no sandbox of this name: it was started with the installation's defaults.\n";

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode run(String more) throws Exception {
        return gateway.call(
                "sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"print 42\"%s}".formatted(more.replace('\'', '"')));
    }

    @Test
    void codeStartsASandboxThatIsNotThereAndSaysSoOnce() throws Exception {
        JsonNode first = run("");
        JsonNode second = run("");

        assertThat(TestGateway.text(first)).startsWith(NEW);
        assertThat(first.at("/structuredContent/sandbox_created").asBoolean()).isTrue();
        assertThat(TestGateway.text(second)).isEqualTo(TestGateway.text(first).substring(NEW.length()));
        assertThat(second.at("/structuredContent/sandbox_created").asBoolean()).isFalse();
        assertThat(gateway.sandboxes.configs).hasSize(1);
    }

    @Test
    void soDoesACommand() throws Exception {
        JsonNode result = gateway.call("sandbox_run_command", "{\"sandbox\":\"box\",\"command\":\"ls\"}");

        assertThat(TestGateway.text(result)).isEqualTo(NEW.strip());
    }

    @Test
    void whoAsksForNoStartIsRefused() throws Exception {
        JsonNode result = run(",'start':'never'");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).contains("Sandbox 'box' not found in namespace 'default'");
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sandbox_reset", "sandbox_interrupt", "sandbox_list_files", "sandbox_stop"})
    void otherToolsStartNone(String tool) throws Exception {
        assertThat(gateway.call(tool, "{\"sandbox\":\"box\"}").path("isError").asBoolean())
                .isTrue();
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "sh", "shell", "Bash"})
    void codeForAShellIsRunByANewOne(String language) throws Exception {
        gateway.sandboxes.addRunning("box");

        run(",'language':'%s','envs':{'A':'b'},'timeout':5".formatted(language));

        assertThat(gateway.supervisor.verbs).singleElement().isInstanceOfSatisfying(Verb.Command.class, command -> {
            assertThat(command.shellLine()).isTrue();
            assertThat(command.args()).containsExactly("-c", "print 42");
            assertThat(command.envs()).containsEntry("A", "b");
        });
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "cd /tmp && ls | true",
                "  export A=b | true",
                ". venv/bin/activate | true",
                "echo cd | false",
                "cdrom -x | false",
            })
    void thatAShellsDirectoryAndVariablesDoNotStayIsSaidToWhoExpectsIt(String code, boolean said) throws Exception {
        gateway.sandboxes.addRunning("box");

        JsonNode result = gateway.call(
                "sandbox_run_code", "{\"sandbox\":\"box\",\"language\":\"bash\",\"code\":\"%s\"}".formatted(code));

        assertThat(TestGateway.text(result).contains("do not stay for the next call"))
                .isEqualTo(said);
    }

    @Test
    void aSessionOfAShellIsAnsweredWithThat() throws Exception {
        gateway.sandboxes.addRunning("box");

        assertThat(TestGateway.text(run(",'language':'bash','session':'a'"))).contains("do not stay for the next call");
        assertThat(TestGateway.text(run(",'language':'bash','python_env':'a'")))
                .contains("'python_env' is for language python; leave it out for bash");
    }

    @ParameterizedTest
    @CsvSource({"py, python", "Python3, python", "ipython, python", "js, nodejs", "JavaScript, nodejs", "node, nodejs"})
    void wordsForALanguageAreTaken(String word, String language) throws Exception {
        gateway.sandboxes.addRunning("box");

        run(",'language':'%s'".formatted(word));

        assertThat(gateway.supervisor.verbs)
                .singleElement()
                .isInstanceOfSatisfying(Verb.Execute.class, execute -> assertThat(execute.language())
                        .isEqualTo(language));
    }

    /** What looks for a line must not look again from each blank before it: this runs where all callers wait. */
    @ParameterizedTest
    @ValueSource(strings = {"\\n", " ", "\\t", "\\r"})
    @Timeout(20)
    void codeOfBlanksAloneCostsNoTime(String blank) throws Exception {
        gateway.sandboxes.addRunning("box");

        String arguments =
                "{\"sandbox\":\"box\",\"language\":\"bash\",\"code\":\"%sx\"}".formatted(blank.repeat(500_000));
        gateway.call("sandbox_run_code", arguments);
        gateway.call(
                "sandbox_run_command", "{\"sandbox\":\"box\",\"command\":\"%sx\"}".formatted(blank.repeat(60_000)));
    }
}
