package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The tools for files from HTTP to a real supervisor and the disk. */
class FileToolsTest {

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

    private static JsonNode call(String tool, Map<String, Object> arguments) throws Exception {
        var all = new HashMap<>(arguments);
        all.put("sandbox", "test");
        return gateway.call(tool, JsonMapper.shared().writeValueAsString(all));
    }

    private static JsonNode done(String tool, Map<String, Object> arguments) throws Exception {
        JsonNode result = call(tool, arguments);
        assertThat(result.path("isError").asBoolean())
                .as(TestGateway.text(result))
                .isFalse();
        return result.path("structuredContent");
    }

    @Test
    void whatIsWrittenIsOnTheDiskAndIsReadByCode() throws Exception {
        done("sandbox_write_file", Map.of("path", "made/on/the way.txt", "content", "héllo"));

        assertThat(supervisor.workspace().resolve("made/on/the way.txt")).hasContent("héllo");
        JsonNode run = call("sandbox_run_code", Map.of("code", "open('made/on/the way.txt').read()"));
        assertThat(TestGateway.text(run)).isEqualTo("'héllo'");
    }

    @Test
    void aFileTravelsInPieces() throws Exception {
        byte[] all = new byte[200_000];
        new Random(20_261_121).nextBytes(all);
        var encoder = Base64.getEncoder();
        for (int at = 0; at < all.length; at += 40_000) {
            String piece = encoder.encodeToString(Arrays.copyOfRange(all, at, at + 40_000));
            Map<String, Object> first = Map.of("path", "pieces", "encoding", "base64", "content", piece);
            var arguments = new HashMap<>(first);
            if (at > 0) {
                arguments.put("offset", at);
            }
            assertThat(done("sandbox_write_file", arguments).path("size").asInt())
                    .isEqualTo(at + 40_000);
        }
        assertThat(Files.readAllBytes(supervisor.workspace().resolve("pieces"))).isEqualTo(all);
        var read = new ByteArrayOutputStream();
        for (long offset = 0; offset < all.length; ) {
            JsonNode page = done(
                    "sandbox_read_file",
                    Map.of("path", "pieces", "encoding", "base64", "offset", offset, "length", 70_000));
            read.writeBytes(Base64.getDecoder().decode(page.path("content").asString()));
            offset = page.path("next_offset").asLong(all.length);
        }
        assertThat(read.toByteArray()).isEqualTo(all);
    }

    @Test
    void foldersAreListedMovedAndDeleted() throws Exception {
        done("sandbox_manage_files", Map.of("action", "mkdir", "path", "tree/b"));
        done("sandbox_write_file", Map.of("path", "tree/b/c", "content", "12345"));
        done("sandbox_manage_files", Map.of("action", "move", "path", "tree/b/c", "to", "tree/a"));

        JsonNode listed = done("sandbox_list_files", Map.of("path", "tree", "recursive", true));

        assertThat(StreamSupport.stream(listed.path("entries").spliterator(), false)
                        .map(entry -> entry.path("path").asString() + " "
                                + entry.path("type").asString()))
                .containsExactly("a file", "b folder");
        JsonNode stat = done("sandbox_manage_files", Map.of("action", "stat", "path", "tree/a"));
        assertThat(stat.path("file").path("size").asInt()).isEqualTo(5);
        JsonNode deleted = done("sandbox_manage_files", Map.of("action", "delete", "path", "tree", "recursive", true));
        assertThat(deleted.path("deleted").asInt()).isEqualTo(3);
        assertThat(supervisor.workspace().resolve("tree")).doesNotExist();
    }

    @Test
    void aPictureThatCodeDrewIsShown() throws Exception {
        String code =
                "import base64; _ = open('dot.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
                        + "CAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='))";
        call("sandbox_run_code", Map.of("code", code));

        JsonNode part = call("sandbox_read_file", Map.of("path", "dot.png"))
                .path("content")
                .path(1);

        assertThat(part.path("type").asString()).isEqualTo("image");
        assertThat(part.path("mimeType").asString()).isEqualTo("image/png");
    }

    @Test
    void whatIsBehindTheEndNamesTheArgument() throws Exception {
        done("sandbox_write_file", Map.of("path", "short", "content", "hi"));

        for (JsonNode result : List.of(
                call("sandbox_read_file", Map.of("path", "short", "offset", 3)),
                call("sandbox_write_file", Map.of("path", "short", "offset", 3, "content", "x")))) {
            assertThat(result.path("isError").asBoolean()).isTrue();
            assertThat(TestGateway.text(result))
                    .isEqualTo("Error: 'offset': 3 is behind the end; the file has 2 bytes.");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "none | Error: There is no file or folder 'none'; sandbox_list_files shows what there is.",
                ". | Error: Not a file: '.' is a folder.",
                "pipe | Error: Not a file: 'pipe' is a pipe, a socket or a device.",
                "/etc/passwd | To read it, copy it first: sandbox_run_command 'cp -rL /etc/passwd /workspace/'.",
                "/etc/passwd | leads out of",
                "../run | leads out of",
                "out/passwd | leads out of",
                "proc/self/environ | leads out of",
            })
    void whatCannotBeReadIsSaidWithTheReason(String path, String words) throws Exception {
        Path home = supervisor.workspace();
        if (!Files.exists(home.resolve("pipe"))) {
            new ProcessBuilder("mkfifo", home.resolve("pipe").toString())
                    .start()
                    .waitFor();
            Files.createSymbolicLink(home.resolve("out"), Path.of("/etc"));
            Files.createSymbolicLink(home.resolve("proc"), Path.of("/proc"));
        }

        JsonNode result = call("sandbox_read_file", Map.of("path", path));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).contains(words);
    }

    private static JsonNode readResource(String path) throws Exception {
        String read =
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"sandbox://default/test/%s\"}}";
        return gateway.json(gateway.send(gateway.post(read.formatted(path))));
    }

    @Test
    void aResourceIsTheFileOfItsPath() throws Exception {
        Path home = supervisor.workspace();
        Files.createDirectories(home.resolve("~"));
        Files.writeString(home.resolve("~/é #%41?.txt"), "héllo");
        if (!Files.exists(home.resolve("in"))) {
            Files.createSymbolicLink(home.resolve("in"), Path.of("~"));
        }

        for (String path : List.of("~/%C3%A9%20%23%2541%3F.txt", "in/%C3%A9%20%23%2541%3F.txt")) {
            assertThat(readResource(path).at("/result/contents/0/text").asString())
                    .isEqualTo("héllo");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "no/such | -32002 | There is no file or folder 'no/such'",
                "dir | -32602 | Not a file: 'dir' is a folder.",
                "away/passwd | -32602 | leads out of",
                "away%2fpasswd | -32602 | leads out of",
                "%2e%2e/run | -32602 | no part of the path may be empty, '.' or '..'",
            })
    void noResourceIsOutsideOfTheWorkspace(String path, int code, String words) throws Exception {
        Path home = supervisor.workspace();
        Files.createDirectories(home.resolve("dir"));
        if (!Files.exists(home.resolve("away"))) {
            Files.createSymbolicLink(home.resolve("away"), Path.of("/etc"));
        }

        JsonNode error = readResource(path).path("error");

        assertThat(error.path("code").asInt()).isEqualTo(code);
        assertThat(error.path("message").asString()).contains(words);
    }
}
