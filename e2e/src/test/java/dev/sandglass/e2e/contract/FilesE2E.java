package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of a sandbox: the same that code in it sees, and none but its own. */
class FilesE2E {

    private static final int MIB = 1024 * 1024;
    private static final long SEED = 20_261_121;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox;

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    private static Map<String, Object> with(Map<String, Object> arguments) {
        var all = new HashMap<>(arguments);
        all.put("sandbox", sandbox);
        return all;
    }

    private Answer done(String tool, Map<String, Object> arguments) {
        Answer answer = agent.call(tool, with(arguments));
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer;
    }

    private void run(String script) {
        Answer answer = agent.command(sandbox, "sh", "-c", script);
        assertThat(answer.failed()).as(answer.text()).isFalse();
    }

    private Answer manage(String action, String path) {
        return done("sandbox_manage_files", Map.of("action", action, "path", path));
    }

    private String refusal(String tool, Map<String, Object> arguments) {
        return agent.refusal(tool, with(arguments));
    }

    private Stream<String> listed(String path) {
        return done("sandbox_list_files", Map.of("path", path, "recursive", true)).list("entries").stream()
                .map(entry -> entry instanceof Map<?, ?> map ? map.get("path") + " " + map.get("type") : "odd");
    }

    @Test
    void codeReadsWhatWasWrittenAndTheOtherWayRound() {
        done("sandbox_write_file", Map.of("path", "/workspace/made/on the way/note.txt", "content", "héllo"));
        assertThat(agent.python(sandbox, "open('made/on the way/note.txt').read()")
                        .result())
                .isEqualTo("'héllo'");

        agent.python(sandbox, "_ = open('answer', 'w').write('from code')");
        assertThat(done("sandbox_read_file", Map.of("path", "answer")).text()).isEqualTo("from code");
    }

    @Test
    void aLargeFileTravelsInPiecesAndIsWhole() {
        byte[] all = new byte[5 * MIB + 12_345];
        new Random(SEED).nextBytes(all);
        for (int at = 0; at < all.length; at += MIB) {
            byte[] piece = Arrays.copyOfRange(all, at, Math.min(all.length, at + MIB));
            var arguments = new HashMap<String, Object>(Map.of(
                    "path",
                    "large",
                    "encoding",
                    "base64",
                    "content",
                    Base64.getEncoder().encodeToString(piece)));
            if (at > 0) {
                arguments.put("offset", at);
            }
            done("sandbox_write_file", arguments);
        }
        String digest = "import hashlib; hashlib.sha256(open('large', 'rb').read()).hexdigest()";
        assertThat(agent.python(sandbox, digest).result()).isEqualTo("'" + sha256(all) + "'");

        var read = new ByteArrayOutputStream();
        while (read.size() < all.length) {
            Answer page = done(
                    "sandbox_read_file",
                    Map.of("path", "large", "encoding", "base64", "offset", read.size(), "length", MIB));
            read.writeBytes(
                    Base64.getDecoder().decode(String.valueOf(page.data().get("content"))));
        }
        assertThat(sha256(read.toByteArray())).isEqualTo(sha256(all));
    }

    @Test
    void anyPlaceOfAGibibyteIsReadAndWritten() {
        long gibibyte = 1024L * MIB;
        run("truncate -s 1G sparse");

        Answer written = done("sandbox_write_file", Map.of("path", "sparse", "content", "end", "offset", gibibyte));

        assertThat(written.number("size")).isEqualTo(gibibyte + 3);
        assertThat(done("sandbox_read_file", Map.of("path", "sparse", "offset", gibibyte))
                        .text())
                .isEqualTo("end");
        assertThat(refusal("sandbox_write_file", Map.of("path", "sparse", "content", "x", "offset", gibibyte + 4)))
                .contains("the file has 1073741827 bytes");
    }

    @Test
    void aPictureIsShownAndBytesThatAreNoTextAreSaidToBeSuch() {
        agent.python(
                sandbox,
                "import matplotlib.pyplot as p; p.plot([1, 2]); p.savefig('plot.png'); p.close()\n"
                        + "_ = open('latin', 'wb').write(b'caf\\xe9')");

        Answer picture = done("sandbox_read_file", Map.of("path", "plot.png"));

        assertThat(picture.data().get("encoding")).isEqualTo("image");
        assertThat(picture.data().get("mime_type")).isEqualTo("image/png");
        assertThat(refusal("sandbox_read_file", Map.of("path", "latin"))).contains("not UTF-8", "base64");
    }

    @Test
    void foldersAreListedMovedAndDeleted() {
        manage("mkdir", "tree/b");
        done("sandbox_write_file", Map.of("path", "tree/b/c", "content", "12345"));
        done("sandbox_manage_files", Map.of("action", "move", "path", "tree/b/c", "to", "tree/a"));

        assertThat(listed("tree")).containsExactly("a file", "b folder");
        assertThat(manage("stat", "tree/a").object("file").get("size")).isEqualTo(5);
        assertThat(refusal("sandbox_manage_files", Map.of("action", "delete", "path", "tree")))
                .contains("recursive");
        done("sandbox_manage_files", Map.of("action", "delete", "path", "tree", "recursive", true));
        assertThat(refusal("sandbox_list_files", Map.of("path", "tree"))).contains("There is no file or folder");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/etc/passwd",
                "/proc/self/environ",
                "/proc/1/root/etc/passwd",
                "../etc/passwd",
                "/workspace/../etc/passwd",
                "links/etc/passwd",
                "links/proc/self/environ",
                "links/root/etc/passwd",
            })
    void nothingOutsideIsTouched(String path) {
        run("mkdir -p links; ln -sfn /etc links/etc; ln -sfn /proc links/proc; ln -sfn /proc/self/root links/root");

        // The control: code that follows the links gets there.
        if (path.startsWith("links/")) {
            run("test -r " + path);
        }
        assertThat(refusal("sandbox_read_file", Map.of("path", path))).contains("leads out of /workspace");
        assertThat(refusal("sandbox_write_file", Map.of("path", path, "content", "x")))
                .contains("leads out of /workspace");
        assertThat(refusal("sandbox_manage_files", Map.of("action", "delete", "path", path, "recursive", true)))
                .contains("leads out of /workspace");
    }

    @Test
    void aFileIsAResourceAndNoUriLeadsOutside() {
        run("printf héllo > 'a resource.txt'; mkdir -p links; ln -sfn /etc links/etc");

        String uri = agent.resources().stream()
                .filter(each -> each.endsWith("/" + sandbox + "/a%20resource.txt"))
                .findFirst()
                .orElseThrow();

        assertThat(agent.resource(uri)).isEqualTo("héllo");
        String folder = uri.substring(0, uri.lastIndexOf('/'));
        assertThatThrownBy(() -> agent.resource(folder + "/links/etc/passwd"))
                .hasMessageContaining("leads out of /workspace");
        assertThatThrownBy(() -> agent.resource(folder + "/%2e%2e%2fetc/passwd"))
                .hasMessageContaining("no part of the path may be empty, '.' or '..'");
    }

    @Test
    void aPipeKeepsNobodyWaiting() {
        run("mkfifo pipe");

        assertThat(refusal("sandbox_read_file", Map.of("path", "pipe"))).contains("Not a file");
        assertThat(agent.python(sandbox, "1 + 1").result()).isEqualTo("2");
    }

    @Test
    void theWorkspaceItselfStays() {
        for (String path : new String[] {".", "/workspace", "/workspace/"}) {
            assertThat(refusal("sandbox_manage_files", Map.of("action", "delete", "path", path, "recursive", true)))
                    .contains("must name something below /workspace");
        }
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
