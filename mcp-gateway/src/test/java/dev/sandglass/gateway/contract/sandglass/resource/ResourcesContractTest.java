package dev.sandglass.gateway.contract.sandglass.resource;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.action.RunningFolders;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Files as resources, as callers see them; how a path is confined is FileToolsTest's. */
class ResourcesContractTest {

    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");

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

    private JsonNode ask(String key, String method, String params) throws Exception {
        String body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}}".formatted(method, params);
        return gateway.json(gateway.send(gateway.post(body).setHeader("Authorization", "Bearer " + key)));
    }

    private JsonNode read(String uri) throws Exception {
        return ask(TestGateway.KEY, "resources/read", "\"uri\":\"%s\"".formatted(uri));
    }

    private JsonNode list(String key, String cursor) throws Exception {
        String params = cursor.isEmpty() ? "" : "\"cursor\":\"%s\"".formatted(cursor);
        return ask(key, "resources/list", params).path("result");
    }

    private static List<String> uris(JsonNode page) {
        return page.path("resources").findValuesAsString("uri");
    }

    private List<FileOperation.ListFolder> lists() {
        return gateway.supervisor.files.asked.stream()
                .filter(FileOperation.ListFolder.class::isInstance)
                .map(FileOperation.ListFolder.class::cast)
                .toList();
    }

    @Test
    void theTemplateSaysTheForm() throws Exception {
        JsonNode template = ask(TestGateway.KEY, "resources/templates/list", "").at("/result/resourceTemplates/0");

        assertThat(template.path("uriTemplate").asString()).isEqualTo("sandbox://{namespace}/{sandbox}/{+path}");
        assertThat(template.propertyNames()).containsExactly("uriTemplate", "name", "title", "description");
        assertThat(template.path("description").asString()).contains("1048576 bytes", "sandbox_read_file");
    }

    @Test
    void theFilesOfAWorkspaceAreListed() throws Exception {
        gateway.supervisor.files.put("a b.csv", "x,y");
        gateway.supervisor.files.put("odd\u202e", "");

        JsonNode page = list(TestGateway.KEY, "");

        assertThat(page.has("nextCursor")).isFalse();
        JsonNode first = page.at("/resources/0");
        assertThat(first.path("uri").asString()).isEqualTo("sandbox://default/box/a%20b.csv");
        assertThat(first.path("name").asString()).isEqualTo("a b.csv");
        assertThat(first.path("title").asString()).isEqualTo("a b.csv in sandbox box (default)");
        assertThat(first.path("mimeType").asString()).isEqualTo("text/csv");
        assertThat(first.path("size").asLong()).isEqualTo(3);
        assertThat(first.at("/annotations/lastModified").asString()).isEqualTo("1970-01-01T00:00:01.500Z");
        JsonNode odd = page.at("/resources/1");
        assertThat(odd.path("name").asString()).isEqualTo("\"odd\\u202e\"");
        assertThat(odd.has("mimeType")).isFalse();
        assertThat(lists()).containsExactly(new FileOperation.ListFolder("", false, RunningFolders.MOST_ENTRIES));
    }

    @Test
    void onlyFilesWithAUriAreListed() throws Exception {
        gateway.supervisor.files.answerNext("{\"truncated\":true}", """
                [{"path":"dir","type":"folder"},{"path":"link","type":"link"},{"path":"pipe","type":"other"},\
                {"path":"../x","type":"file","size":1},{"path":"","type":"file"},{"path":"ok","type":"file"}]""".getBytes(StandardCharsets.UTF_8));

        JsonNode page = list(TestGateway.KEY, "");

        assertThat(uris(page)).containsExactly("sandbox://default/box/ok");
        assertThat(page.at("/resources/0").has("size")).isFalse();
    }

    @Test
    void aListHasAtMost100FilesOfASandbox() throws Exception {
        IntStream.rangeClosed(1, RunningFolders.MOST_FILES + 1)
                .forEach(i -> gateway.supervisor.files.put("f%03d".formatted(i), ""));

        assertThat(uris(list(TestGateway.KEY, "")))
                .hasSize(RunningFolders.MOST_FILES)
                .startsWith("sandbox://default/box/f001")
                .endsWith("sandbox://default/box/f100");
    }

    /** Nothing that a client polls may keep a sandbox alive or bring it back. */
    @Test
    void aListUsesNoSandbox() throws Exception {
        gateway.sandboxes.put(new SandboxState.Asleep(
                new SandboxRef("default", "sandglass-default", "idle", "idle"), "uid-idle", "Idle"));
        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("default", "sandglass-default", "off", "off"), "uid-off"));
        gateway.supervisor.files.put("a", "");

        assertThat(uris(list(TestGateway.KEY, ""))).containsExactly("sandbox://default/box/a");
        assertThat(gateway.sandboxes.orders).isEmpty();
        assertThat(gateway.sandboxes.busy).isEmpty();
    }

    @Test
    void aPageAsksAtMostTenSandboxesAndTheNextOneGoesOn() throws Exception {
        gateway.supervisor.files.put("a", "");
        IntStream.range(0, 2 * RunningFolders.MOST_SANDBOXES)
                .forEach(i -> gateway.sandboxes.addRunning("s%02d".formatted(i)));
        var seen = new ArrayList<String>();

        JsonNode page = list(TestGateway.KEY, "");
        assertThat(lists()).hasSize(RunningFolders.MOST_SANDBOXES);
        seen.addAll(uris(page));
        // One that is gone meanwhile does not disturb the order.
        gateway.sandboxes
                .stop(new SandboxRef("default", "sandglass-default", "s08", "s08"))
                .block();
        page = list(TestGateway.KEY, page.path("nextCursor").asString());
        seen.addAll(uris(page));
        page = list(TestGateway.KEY, page.path("nextCursor").asString());
        seen.addAll(uris(page));

        assertThat(page.has("nextCursor")).isFalse();
        assertThat(lists()).hasSize(2 * RunningFolders.MOST_SANDBOXES + 1);
        assertThat(seen)
                .hasSize(2 * RunningFolders.MOST_SANDBOXES + 1)
                .doesNotHaveDuplicates()
                .isSorted()
                .startsWith("sandbox://default/box/a", "sandbox://default/s00/a")
                .endsWith("sandbox://default/s19/a");
    }

    @Test
    void tenSandboxesAreOnePage() throws Exception {
        IntStream.range(1, RunningFolders.MOST_SANDBOXES).forEach(i -> gateway.sandboxes.addRunning("s" + i));

        assertThat(list(TestGateway.KEY, "").has("nextCursor")).isFalse();
    }

    @Tag("slow")
    @Test
    void aSandboxThatDoesNotAnswerIsLeftOut() throws Exception {
        stop();
        gateway = TestGateway.waiting(Duration.ofSeconds(3));
        gateway.sandboxes.addRunning("box");
        gateway.sandboxes.addRunning("quick");
        gateway.supervisor.files.put("a", "");
        gateway.supervisor.silenceLists(1);

        assertThat(uris(list(TestGateway.KEY, ""))).containsExactly("sandbox://default/quick/a");
    }

    @Test
    void eachCallerSeesItsOwnSandboxesWhateverTheCursor() throws Exception {
        gateway.supervisor.files.put("a", "");
        gateway.sandboxes.addRunningOfOther("secret");

        assertThat(uris(list(TestGateway.KEY, ""))).containsExactly("sandbox://default/box/a");
        String beforeOther = ListCursor.text(new RunningFolders.Position("default", "zzz"));
        assertThat(uris(list(TestGateway.KEY, beforeOther))).isEmpty();
        assertThat(uris(list(TestGateway.OTHER_KEY, beforeOther))).containsExactly("sandbox://other/other-secret/a");
    }

    @Test
    void textIsTextAndTheUriIsThatOfTheCaller() throws Exception {
        gateway.supervisor.files.put("dir/é.py", "print('é')\n");

        JsonNode content = read("sandbox://default/box/dir%2F%C3%A9.py").at("/result/contents/0");

        assertThat(content.toString())
                .isEqualTo("{\"uri\":\"sandbox://default/box/dir%2F%C3%A9.py\",\"mimeType\":\"text/x-python\","
                        + "\"text\":\"print('é')\\n\"}");
        assertThat(gateway.sandboxes.busy).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a.json | {} | application/json | text",
                "A.JSON | {} | application/json | text",
                "a.csv | 1,2 | text/csv | text",
                "a.html | <p> | text/html | text",
                "a.svg | <svg/> | image/svg+xml | text",
                "README | words | text/plain | text",
                "a.unknown | words | text/plain | text",
                "json | words | text/plain | text",
                ".json | words | text/plain | text",
                "dir.json/a | words | text/plain | text",
                "a.png | no picture | text/plain | text",
                "a.txt | GIF89a | image/gif | blob",
                "a.dat | %PDF-1.7 | application/pdf | blob",
                "a.zip | P\u0000K | application/zip | blob",
                "a.json | {\u0000} | application/octet-stream | blob",
                "a.png | x\u0000y | application/octet-stream | blob",
                "a.pdf | x\u0000y | application/octet-stream | blob",
            })
    void theTypeIsThatOfContentAndName(String path, String content, String type, String field) throws Exception {
        gateway.supervisor.files.put(path, content);

        JsonNode read = read("sandbox://default/box/" + path).at("/result/contents/0");

        assertThat(read.path("mimeType").asString()).isEqualTo(type);
        String given = read.path(field).asString();
        assertThat(field.equals("text") ? given : new String(Base64.getDecoder().decode(given), StandardCharsets.UTF_8))
                .isEqualTo(content);
        assertThat(read.has(field.equals("text") ? "blob" : "text")).isFalse();
    }

    @Test
    void bytesThatAreNoTextAreABlob() throws Exception {
        byte[] png = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
        gateway.supervisor.files.put("picture", png);
        gateway.supervisor.files.put("cut.txt", new byte[] {'a', (byte) 0xc3});
        gateway.supervisor.files.put("empty", "");

        assertThat(read("sandbox://default/box/picture")
                        .at("/result/contents/0/mimeType")
                        .asString())
                .isEqualTo("image/png");
        assertThat(read("sandbox://default/box/cut.txt")
                        .at("/result/contents/0/blob")
                        .asString())
                .isEqualTo("YcM=");
        assertThat(read("sandbox://default/box/empty")
                        .at("/result/contents/0/text")
                        .asString("none"))
                .isEmpty();
    }

    @Test
    void aFileOfOneMebibyteIsReadAndALargerOneNamesTheTool() throws Exception {
        gateway.supervisor.files.put("most", "x".repeat(SandboxFiles.MOST_BYTES));
        gateway.supervisor.files.put("more", "x".repeat(SandboxFiles.MOST_BYTES + 1));

        assertThat(read("sandbox://default/box/most")
                        .at("/result/contents/0/text")
                        .asString())
                .hasSize(SandboxFiles.MOST_BYTES);
        JsonNode error = read("sandbox://default/box/more").path("error");
        assertThat(error.path("code").asInt()).isEqualTo(-32602);
        assertThat(error.path("message").asString())
                .isEqualTo("'more' has 1048577 bytes, and a resource at most 1048576: read it in parts with"
                        + " sandbox_read_file and its 'offset'");
    }

    @Test
    void aSuspendedSandboxIsResumedAndAStoppedOneIsNot() throws Exception {
        gateway.supervisor.files.put("a", "hello");
        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));

        assertThat(read("sandbox://default/box/a").at("/result/contents/0/text").asString())
                .isEqualTo("hello");
        assertThat(gateway.sandboxes.orders).containsExactly("resume box");

        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        JsonNode missing = read("sandbox://default/box/b").path("error");
        assertThat(missing.path("code").asInt()).isEqualTo(-32002);
        assertThat(missing.path("message").asString()).contains("'b'", "was resumed for this call");

        gateway.sandboxes.put(new SandboxState.Stopped(BOX, "uid-box"));
        JsonNode stopped = read("sandbox://default/box/a").path("error");
        assertThat(stopped.path("code").asInt()).isEqualTo(-32603);
        assertThat(stopped.path("message").asString())
                .isEqualTo("Sandbox 'box' is not running: it was stopped. Call sandbox_start with this name first.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sandbox://default/none/a",
                "sandbox://default/box/none",
                "sandbox://other/box/a",
                "sandbox://nowhere/box/a",
                "file:///etc/passwd",
            })
    void whatIsNotThereIsUnknown(String uri) throws Exception {
        gateway.supervisor.files.put("a", "s3cr3t");
        gateway.sandboxes.addRunningOfOther("box");

        JsonNode answer = read(uri);

        assertThat(answer.at("/error/code").asInt()).isEqualTo(-32002);
        assertThat(answer.at("/error/data/uri").asString()).isEqualTo(uri);
        assertThat(answer.toString()).doesNotContain("s3cr3t");
    }

    /** The same words as of the tools, for a tenant that is not there and for one that is not the caller's. */
    @Test
    void anotherTenantsFileDoesNotExist() throws Exception {
        gateway.sandboxes.addRunningOfOther("box");
        gateway.supervisor.files.put("a", "s3cr3t");

        String foreign =
                read("sandbox://other/other-box/a").at("/error/message").asString();
        String unknown =
                read("sandbox://nowhere/other-box/a").at("/error/message").asString();
        String tool = TestGateway.text(gateway.call(
                "sandbox_read_file", "{\"sandbox\":\"other-box\",\"namespace\":\"other\",\"path\":\"a\"}"));

        assertThat(foreign.replace("other", "nowhere")).isEqualTo(unknown);
        assertThat("Error: " + foreign).isEqualTo(tool);
        assertThat(gateway.supervisor.files.asked).isEmpty();
        assertThat(ask(TestGateway.OTHER_KEY, "resources/read", "\"uri\":\"sandbox://default/box/a\"")
                        .at("/error/code")
                        .asInt())
                .isEqualTo(-32002);
        assertThat(gateway.supervisor.files.asked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"../a", "%2e%2e%2fa", "x/%2E%2e/a", "/a", "a%00", "a?b", ""})
    void noPathThatLeadsElsewhereReachesASandbox(String path) throws Exception {
        JsonNode error = read("sandbox://default/box/" + path).path("error");

        assertThat(error.path("code").asInt()).isEqualTo(-32602);
        assertThat(error.path("message").asString()).startsWith("'uri' ");
        assertThat(gateway.supervisor.files.asked).isEmpty();
        assertThat(gateway.sandboxes.busy).isEmpty();
    }
}
