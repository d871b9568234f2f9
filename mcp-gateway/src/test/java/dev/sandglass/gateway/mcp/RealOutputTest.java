package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a model sees of what a real kernel displays, and what programs get of it. */
class RealOutputTest {

    private static final String NOISE = """
            import io, os
            from IPython.display import Image, display
            from PIL import Image as Pillow
            def draw(width, height):
                buffer = io.BytesIO()
                Pillow.frombytes('RGB', (width, height), os.urandom(width * height * 3)).save(buffer, 'PNG')
                display(Image(buffer.getvalue()))
            """;

    private static SupervisorProcess supervisor;
    private static LinkClient links;
    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        supervisor = SupervisorProcess.start();
        links = TestLinks.start(SupervisorProcess.SECRET);
        gateway = TestGateway.start(links);
        gateway.sandboxes.put(new SandboxState.Running(supervisor.sandbox()));
        gateway.awaitKernel(supervisor.sandbox());
    }

    @AfterAll
    static void stop() {
        gateway.close();
        links.close();
        supervisor.close();
    }

    private static JsonNode run(String code) throws Exception {
        return gateway.call(
                "sandbox_run_code",
                JsonMapper.shared().writeValueAsString(Map.of("sandbox", "test", "code", code, "timeout", 50)));
    }

    private static long pictures(JsonNode result) {
        return StreamSupport.stream(result.path("content").spliterator(), false)
                .filter(part -> part.path("type").asString().equals("image"))
                .count();
    }

    @Test
    void aPictureAloneIsAnsweredWithATextThatSaysSo() throws Exception {
        JsonNode result = run(NOISE + "draw(20, 20)\nprint()");

        assertThat(result.path("content").size()).isEqualTo(2);
        assertThat(TestGateway.text(result)).endsWith("--- sandglass ---\n[1 picture(s): image/png]");
        assertThat(pictures(result)).isEqualTo(1);
        assertThat(result.path("structuredContent").path("stdout").asString()).isEqualTo("\n");
    }

    @Tag("slow")
    @Test
    void aLargePictureIsScaledAndItsFullSizeIsAFile() throws Exception {
        JsonNode result = run(NOISE + "draw(1800, 1200)");

        JsonNode image = result.path("structuredContent").path("images").path(0);
        Path full = Path.of(image.path("path").asString());
        assertThat(Files.size(full)).isEqualTo(image.path("full_bytes").asLong());
        assertThat(full).startsWith(supervisor.workspace().resolve(".sandglass/pictures"));
        assertThat(TestGateway.text(result))
                .isEqualTo(
                        "--- sandglass ---\n[1 picture(s): image/jpeg]\n[Picture 1 is scaled down from 1800 x 1200 pixels, %d bytes; in full size: %s]"
                                .formatted(Files.size(full), full));
        byte[] shown = Base64.getDecoder()
                .decode(result.path("content").path(1).path("data").asString());
        assertThat(shown).hasSize(image.path("bytes").asInt()).hasSizeLessThanOrEqualTo(768 * 1024);
        assertThat(result.path("content").path(1).path("mimeType").asString())
                .isEqualTo(image.path("mime_type").asString());
    }

    @Test
    void picturesThatDoNotFitAreCountedAndCanBeReadOn() throws Exception {
        JsonNode first = run(NOISE + "for _ in range(18): draw(10, 10)");

        assertThat(pictures(first)).isEqualTo(16);
        JsonNode facts = first.path("structuredContent");
        assertThat(facts.path("truncated").asBoolean()).isTrue();
        assertThat(TestGateway.text(first))
                .startsWith(
                        "--- sandglass ---\n[16 picture(s): image/png]\n[2 more picture(s) did not fit into this answer; they come when you read on]\nRead on: ")
                .contains("offset " + facts.path("next_offset").asLong());
        JsonNode rest = gateway.call(
                "sandbox_get_execution",
                JsonMapper.shared()
                        .writeValueAsString(Map.of(
                                "execution_id",
                                facts.path("execution_id").asString(),
                                "offset",
                                facts.path("next_offset").asLong())));
        assertThat(pictures(rest)).isEqualTo(2);
        assertThat(rest.path("structuredContent").path("truncated").asBoolean()).isFalse();
    }

    @Test
    void anErrorTellsHowToReadOnToo() throws Exception {
        JsonNode result = run(NOISE + "for _ in range(17): draw(10, 10)\n1/0");

        assertThat(TestGateway.text(result))
                .contains("ZeroDivisionError", "[1 more picture(s) did not fit", "Read on: sandbox_get_execution");
    }

    @Tag("slow")
    @Test
    void tablesAndPagesAreText() throws Exception {
        JsonNode table = run("import pandas\npandas.DataFrame({'city': ['Oslo', 'Rome'], 'n': [1, 2]})");
        assertThat(TestGateway.text(table)).isEqualTo("   city  n\n0  Oslo  1\n1  Rome  2");
        assertThat(table.path("structuredContent").path("result_json").isNull()).isTrue();

        assertThat(TestGateway.text(run("from IPython.display import HTML\nHTML('<h1>Hi</h1><p>a &lt; <b>b</b></p>')")))
                .isEqualTo("Hi\na < b");
    }

    @Test
    void jsonIsDataForPrograms() throws Exception {
        JsonNode result = run("from IPython.display import JSON\nJSON({'a': [1, None, 'é']})");

        assertThat(result.path("structuredContent").path("result_json").toString())
                .isEqualTo("{\"a\":[1,null,\"é\"]}");
        assertThat(TestGateway.text(result)).isEqualTo("{\"a\": [1, null, \"é\"]}");
    }

    @Test
    void aProgressBarIsItsLastState() throws Exception {
        JsonNode result =
                run("import sys\nfor i in range(101): sys.stderr.write(f'\\r{i}%')\nprint('\\x1b[1mdone\\x1b[0m')");

        assertThat(TestGateway.text(result)).isEqualTo("done\n100%");
        assertThat(result.path("structuredContent").path("stderr").asString()).isEqualTo("100%");
    }

    @Test
    void whatIsDisplayedAnewIsItsNewestVersion() throws Exception {
        JsonNode result = run(NOISE + """
                from IPython.display import Markdown
                bar, plot = display(Markdown('0 of 20'), display_id=True), display('drawing', display_id=True)
                for step in range(20):
                    print('step', step)
                    bar.update(Markdown(f'{step + 1} of 20'))
                    plot.update(Pillow.new('RGB', (8 + step, 8)))
                """);

        assertThat(TestGateway.text(result))
                .startsWith("20 of 20\n\nstep 0\n")
                .endsWith("step 19\n--- sandglass ---\n[1 picture(s): image/png]");
        assertThat(pictures(result)).isEqualTo(1);
        assertThat(result.path("structuredContent").path("truncated").asBoolean())
                .isFalse();
        assertThat(result.path("structuredContent").path("images").toString()).contains("image/png");
    }

    @Test
    void nobodyAnswersQuestions() throws Exception {
        assertThat(TestGateway.text(run("input('name? ')")))
                .contains("EOFError: input(): nobody can answer a question");
    }

    @Test
    void aKilledKernelIsToldWithWhatIsLostAndWhatToDo() throws Exception {
        JsonNode result = run("import os; os.kill(os.getpid(), 9)");

        assertThat(TestGateway.text(result))
                .isEqualTo("[kernel_died] The kernel's process ended by signal 9 while the code ran. The kernel was"
                        + " restarted and its variables are lost; files are kept. Run the code that made the variables"
                        + " again before you use them.");
        assertThat(result.path("structuredContent").path("kernel_restarted").asBoolean())
                .isTrue();
    }
}
