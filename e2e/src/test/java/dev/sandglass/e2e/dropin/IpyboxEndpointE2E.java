package dev.sandglass.e2e.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.Installation;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The endpoint {@code /mcp/ipybox} in a cluster: one kernel, pictures as files, a reset. */
class IpyboxEndpointE2E {

    private EndpointSession session;

    @BeforeEach
    void begin() {
        session = EndpointSession.begin(Installation.current(), "/mcp/ipybox?env=KERNEL_ENV_GREETING=hello");
    }

    @AfterEach
    void end() {
        session.end();
    }

    private String cell(String code) {
        return session.call("execute_ipython_cell", Map.of("code", code));
    }

    @Test
    void variablesStayUntilAReset() {
        assertThat(cell("x = 41")).contains("(no output)");
        assertThat(cell("x + 1")).contains("\"42\"");
        assertThat(cell("import os; os.environ['GREETING']")).contains("hello");
        assertThat(session.call("reset", Map.of())).contains("The kernel is new");
        assertThat(cell("x")).contains("NameError", "\"isError\":true");
    }

    @Test
    void aTimeoutKeepsTheOutputAndTheKernel() {
        cell("x = 41");
        assertThat(session.call(
                        "execute_ipython_cell",
                        Map.of("code", "print('begun', flush=True); import time; time.sleep(60)", "timeout", 1.5)))
                .contains("begun\\nExecution timed out: ", "\"isError\":true")
                .doesNotContain("sandbox_");
        assertThat(cell("x + 1")).contains("\"42\"");
    }

    @Test
    void cellsAreThoseOfIpython() {
        assertThat(cell("import asyncio\nawait asyncio.sleep(0, 'slept')")).contains("'slept'");
        assertThat(cell("!echo of a shell")).contains("of a shell");
        assertThat(cell("%%bash\necho of bash")).contains("of bash");
    }

    @Test
    void aPictureIsAFileToo() {
        assertThat(cell("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"))
                .contains("Generated images:", "/workspace/images/", "\"type\":\"image\"");
        assertThat(cell("import glob; len(glob.glob('/workspace/images/*.png'))"))
                .contains("\"1\"");
    }

    @Test
    void appLeadsToTheWorkspace() {
        assertThat(cell("_ = open('/app/seen', 'w').write('by both names')")).contains("(no output)");
        assertThat(cell("open('/workspace/seen').read()")).contains("by both names");
        assertThat(cell("import os; os.path.realpath('/app')")).contains("'/workspace'");
    }

    @Test
    void aPackageOfAClosedHostNamesWhatOpensIt() {
        String refused = session.call(
                "install_package", Map.of("package_name", "git+https://git.example.com/team/tool.git@main"));

        assertThat(refused)
                .contains("git.example.com", "'allowed_domains' in the URL of this endpoint", "\"isError\":true")
                .doesNotContain("sandbox_");
    }

    @Test
    void longOutputIsInAFile() {
        assertThat(cell("print('x' * 20_000)"))
                .contains("[Output truncated: exceeded 5000 character limit]", "/workspace/outputs/");
        assertThat(cell("import glob; len(open(glob.glob('/workspace/outputs/*.txt')[0]).read())"))
                .contains("20000");
    }
}
