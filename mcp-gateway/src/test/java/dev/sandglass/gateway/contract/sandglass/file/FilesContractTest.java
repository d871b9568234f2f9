package dev.sandglass.gateway.contract.sandglass.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The tools for files as callers see them; what the supervisor does is FileToolsTest's. */
class FilesContractTest {

    private static final int BOUND = SandboxFiles.MOST_BYTES;

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start(new McpSettings(8 * 1024 * 1024, 24 << 20, 64 << 20, Duration.ofSeconds(10)));
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode call(String tool, String more) throws Exception {
        return gateway.call(tool, "{\"sandbox\":\"box\"%s}".formatted(more.replace('\'', '"')));
    }

    private JsonNode read(String more) throws Exception {
        return call("sandbox_read_file", more);
    }

    private static JsonNode facts(JsonNode result) {
        assertThat(result.path("isError").asBoolean())
                .as(TestGateway.text(result))
                .isFalse();
        return result.path("structuredContent");
    }

    private static String refusal(JsonNode result) {
        assertThat(result.path("isError").asBoolean()).isTrue();
        return TestGateway.text(result);
    }

    @Test
    void bytesTravelInBase64() throws Exception {
        byte[] all = new byte[256];
        for (int i = 0; i < all.length; i++) {
            all[i] = (byte) i;
        }
        String base64 = Base64.getEncoder().encodeToString(all);

        JsonNode written =
                call("sandbox_write_file", ",'path':'b','encoding':'base64','content':'%s'".formatted(base64));

        assertThat(TestGateway.text(written)).isEqualTo("Wrote 256 bytes to 'b'; its size is 256 bytes.");
        assertThat(gateway.supervisor.files.get("b")).isEqualTo(all);
        JsonNode page = facts(read(",'path':'b','encoding':'base64','offset':100,'length':50"));
        assertThat(Base64.getDecoder().decode(page.path("content").asString()))
                .isEqualTo(Arrays.copyOfRange(all, 100, 150));
        assertThat(page.path("next_offset").asLong()).isEqualTo(150);
    }

    @Test
    void textIsWrittenInUtf8AndPiecesWithAnOffset() throws Exception {
        JsonNode first = call("sandbox_write_file", ",'path':'t','content':'hé'");
        JsonNode second = call("sandbox_write_file", ",'path':'t','content':'!','offset':3");

        assertThat(facts(first).path("bytes").asLong()).isEqualTo(3);
        assertThat(facts(second).path("size").asLong()).isEqualTo(4);
        assertThat(new String(gateway.supervisor.files.get("t"), StandardCharsets.UTF_8))
                .isEqualTo("hé!");
        assertThat(gateway.supervisor.files.asked)
                .element(0)
                .isInstanceOfSatisfying(FileOperation.Write.class, write -> assertThat(write.offset())
                        .isNull());
    }

    @Test
    void contentAtTheBoundIsWrittenAndMoreIsNot() throws Exception {
        String bytes = Base64.getEncoder().encodeToString(new byte[BOUND]);
        String more = Base64.getEncoder().encodeToString(new byte[BOUND + 1]);
        String write = ",'path':'f','encoding':'%s','content':'%s'";

        assertThat(facts(call("sandbox_write_file", write.formatted("text", "x".repeat(BOUND))))
                        .path("size")
                        .asLong())
                .isEqualTo(BOUND);
        assertThat(facts(call("sandbox_write_file", write.formatted("base64", bytes)))
                        .path("size")
                        .asLong())
                .isEqualTo(BOUND);
        for (String over :
                new String[] {write.formatted("base64", more), write.formatted("text", "é".repeat(524_289))}) {
            assertThat(refusal(call("sandbox_write_file", over))).contains("at most 1048576 bytes, has 10485");
        }
    }

    @Test
    void foldersAreListedForPeopleAndPrograms() throws Exception {
        gateway.supervisor.files.answerNext("{\"truncated\":true}", """
                [{"path":"a","type":"file","size":3,"modified":1.5},{"path":"d","type":"folder","size":null,"modified":0},
                 {"path":"l","type":"link","size":null,"modified":0},{"path":"\\udc00","type":7,"size":-5,"modified":"x"}]\
                """.getBytes(StandardCharsets.UTF_8));

        JsonNode result = call("sandbox_list_files", "");

        assertThat(TestGateway.text(result))
                .isEqualTo(
                        "a (3 bytes)\nd/\nl (link)\n? (other)\n--- sandglass ---\n[truncated] There is more: list a folder below this one, or"
                                + " give a higher 'limit'.");
        JsonNode facts = facts(result);
        assertThat(facts.path("entries").path(0).path("modified").asString()).isEqualTo("1970-01-01T00:00:01.500Z");
        assertThat(facts.path("truncated").asBoolean()).isTrue();
        assertThat(gateway.supervisor.files.asked).containsExactly(new FileOperation.ListFolder("", false, 1000));
    }

    @Test
    void aListThatCannotBeReadIsSaidToBeSuch() throws Exception {
        gateway.supervisor.files.answerNext("{}", new byte[] {'[', '{'});

        assertThat(refusal(call("sandbox_list_files", ",'path':'x'"))).contains("cannot be read");
        assertThat(TestGateway.text(call("sandbox_list_files", ""))).isEqualTo("(empty folder)");
    }

    @Test
    void filesAreManaged() throws Exception {
        gateway.supervisor.files.put("a", "abc");
        String manage = "sandbox_manage_files";

        assertThat(TestGateway.text(call(manage, ",'action':'stat','path':'a'")))
                .isEqualTo("'a' is a file of 3 bytes, modified 1970-01-01T00:00:01.500Z, mode 0644.");
        assertThat(TestGateway.text(call(manage, ",'action':'mkdir','path':'d'")))
                .isEqualTo("Made folder 'd'.");
        assertThat(TestGateway.text(call(manage, ",'action':'move','path':'a','to':'b'")))
                .isEqualTo("Moved 'a' to 'b'.");
        JsonNode deleted = call(manage, ",'action':'delete','path':'b','recursive':true");
        assertThat(TestGateway.text(deleted)).isEqualTo("Deleted 'b': 1 files and folders.");
        assertThat(facts(deleted).path("status").asString()).isEqualTo("deleted");
        assertThat(gateway.supervisor.files.asked)
                .containsExactly(
                        new FileOperation.Stat("a"),
                        new FileOperation.MakeFolder("d"),
                        new FileOperation.Move("a", "b"),
                        new FileOperation.Delete("b", true));
        gateway.supervisor.files.answerNext("{\"deleted\":7,\"done\":false}", new byte[0]);
        JsonNode unfinished = call(manage, ",'action':'delete','path':'b','recursive':true");
        assertThat(facts(unfinished).path("status").asString()).isEqualTo("unfinished");
        assertThat(TestGateway.text(unfinished)).contains("make the same call again");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "read_file | ^^ | Missing required 'path' parameter",
                "read_file | ,'path':'' | 'path' must not be empty",
                "read_file | ,'path':'a\\u0000b' | 'path' must not contain the character U+0000",
                "read_file | ,'path':'a\\ud800' | 'path' holds half a character",
                "read_file | ,'path':'a','encoding':'utf8' | 'encoding' must be 'text' or 'base64'",
                "read_file | ,'path':'a','offset':-1 | 'offset' must be a whole number from 0",
                "read_file | ,'path':'a','length':3 | 'length' must be a whole number from 4 to 1048576",
                "read_file | ,'path':'a','length':1048577 | 'length' must be a whole number from 4 to 1048576",
                "write_file | ,'path':'a' | Missing required 'content' parameter",
                "write_file | ,'path':'a','content':7 | 'content' must be a text",
                "write_file | ,'path':'a','content':'\\ud800' | 'content' holds half a character",
                "write_file | ,'path':'a','content':'é','encoding':'base64' | 'content' is not base64",
                "write_file | ,'path':'a','content':'','offset':1.5 | 'offset' must be a whole number",
                "list_files | ,'limit':0 | 'limit' must be a whole number from 1 to 10000",
                "list_files | ,'limit':10001 | 'limit' must be a whole number from 1 to 10000",
                "list_files | ,'recursive':'yes' | 'recursive' must be true or false",
                "list_files | ,'depth':1 | 'depth' is not known",
                "manage_files | ,'path':'a' | Missing required 'action' parameter",
                "manage_files | ,'path':'a','action':'copy' | 'action' must be one of mkdir, move, delete, stat",
                "manage_files | ,'action':'stat' | Missing required 'path' parameter",
                "manage_files | ,'path':'a','action':'move' | Missing required 'to' parameter",
                "manage_files | ,'path':'a','action':'stat','to':'b' | 'to' goes with action 'move' only",
                "manage_files | ,'path':'a','action':'mkdir','recursive':true | 'recursive' goes with action 'delete' only",
            })
    void brokenArgumentsAreNamedWithTheirRule(String tool, String arguments, String error) throws Exception {
        assertThat(refusal(call("sandbox_" + tool, arguments))).startsWith("Error: " + error);
        assertThat(gateway.supervisor.files.asked).isEmpty();
    }

    @Test
    void aSleepingSandboxIsBroughtBackAndTheAnswerSaysSo() throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "s", "s");
        gateway.supervisor.files.put("a", "abc");
        for (String path : new String[] {"a", "none"}) {
            gateway.sandboxes.put(new SandboxState.Asleep(ref, "u", "Idle"));

            JsonNode result = gateway.call("sandbox_read_file", "{\"sandbox\":\"s\",\"path\":\"%s\"}".formatted(path));

            assertThat(result.path("content").toString()).contains("files outside a persistent workspace");
            assertThat(result.path("isError").asBoolean()).isEqualTo(path.equals("none"));
        }
        assertThat(gateway.sandboxes.orders).containsExactly("resume s", "resume s");
    }

    @Test
    void filesOfOtherTenantsAreNotThere() throws Exception {
        gateway.supervisor.files.put("a", "abc");

        JsonNode result = gateway.call(
                TestGateway.OTHER_KEY,
                "sandbox_read_file",
                "{\"sandbox\":\"box\",\"namespace\":\"default\",\"path\":\"a\"}");

        assertThat(refusal(result)).doesNotContain("abc");
        assertThat(gateway.supervisor.files.asked).isEmpty();
    }
}
