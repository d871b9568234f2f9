package dev.sandglass.api.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ServerHandshakeTest {

    private static final String HASH = "sha256:" + "0f".repeat(32);

    private static ServerHandshake of(String name, int tools) {
        return new ServerHandshake("uid-time", 3, true, new ServerInfo(name, "1.0", "2025-11-25"), tools, HASH);
    }

    /** What becomes of a name. */
    private static String name(String said) {
        return new ServerInfo(said, null, null).name();
    }

    @Test
    void aNoteIsReadAsItWasWritten() {
        assertThat(ServerHandshake.read(of("Time", 12).note())).contains(of("Time", 12));
        ServerHandshake failed = ServerHandshake.failed("uid-time", 3);
        assertThat(ServerHandshake.read(failed.note())).contains(failed);
        assertThat(failed.note()).isEqualTo("{\"uid\":\"uid-time\",\"generation\":3,\"done\":false}");
    }

    @Test
    void theLongestNoteIsRead() {
        String long1 = "\"\\".repeat(ServerInfo.MAX_TEXT);
        var longest = new ServerHandshake(
                "123e4567-e89b-12d3-a456-426614174000",
                Long.MAX_VALUE,
                true,
                new ServerInfo(long1, long1, long1),
                Integer.MAX_VALUE,
                HASH);

        assertThat(longest.note()).hasSizeLessThanOrEqualTo(ServerHandshake.MAX_NOTE);
        assertThat(ServerHandshake.read(longest.note())).contains(longest);
    }

    @Test
    void aTextOfTheServerIsOneCleanLineOf256Characters() {
        String most = "x".repeat(ServerInfo.MAX_TEXT);

        assertThat(name(most)).isEqualTo(most);
        assertThat(name(most + "x")).isEqualTo("x".repeat(ServerInfo.MAX_TEXT - 1) + "…");
        assertThat(name(name(most + "x"))).as("read again").isEqualTo(name(most + "x"));
        assertThat(name("a\n\u001b[2Jb\u202ec\u200b")).isEqualTo("a [2Jbc");
        assertThat(new ServerInfo(null, null, null)).isEqualTo(new ServerInfo("", "", ""));
    }

    @Test
    void aCountIsBounded() {
        assertThat(of("Time", ServerHandshake.MAX_TOOLS).toolCount()).isEqualTo(ServerHandshake.MAX_TOOLS);
        assertThat(of("Time", ServerHandshake.MAX_TOOLS + 1).toolCount()).isEqualTo(ServerHandshake.MAX_TOOLS);
        assertThat(of("Time", -1).toolCount()).isZero();
    }

    @Test
    void oneThatFailedSaysNothingOfTheServer() {
        var failed = new ServerHandshake("uid-time", 3, false, new ServerInfo("Time", "1", "2"), 5, HASH);

        assertThat(failed).isEqualTo(ServerHandshake.failed("uid-time", 3));
    }

    static Stream<String> odd() {
        String note = of("Time", 12).note();
        return Stream.of(
                "",
                "null",
                "7",
                "[]",
                "{",
                "\"text\"",
                note.replace("12", "\"many\""),
                note.replace("12", "99999999999999999999"),
                "{\"serverInfo\":7}",
                "{\"generation\":\"third\"}",
                "[".repeat(ServerHandshake.MAX_NOTE),
                " ".repeat(ServerHandshake.MAX_NOTE + 1 - note.length()) + note);
    }

    @ParameterizedTest
    @MethodSource("odd")
    void whatIsNoNoteIsNone(String note) {
        assertThat(ServerHandshake.read(note)).isEmpty();
    }

    @Test
    void aHashOfAnotherFormIsNone() {
        var odd = new ServerHandshake("uid-time", 3, true, null, 1, HASH + "0");

        assertThat(odd.toolsHash()).isNull();
        assertThat(ServerHandshake.read(null)).isEmpty();
        assertThat(ServerHandshake.read("{\"done\":true,\"more\":{\"a\":[1]}}"))
                .contains(new ServerHandshake("", 0, true, null, null, null));
    }

    @Test
    void itIsOfOneResourceAndOneSpec() {
        var server = new SandboxToolServer();
        server.getMetadata().setUid("uid-time");
        server.getMetadata().setGeneration(3L);
        assertThat(of("Time", 1).isOf(server)).isTrue();

        server.getMetadata().setGeneration(4L);
        assertThat(of("Time", 1).isOf(server)).isFalse();
        server.getMetadata().setGeneration(null);
        assertThat(of("Time", 1).isOf(server)).isFalse();
        server.getMetadata().setGeneration(3L);
        server.getMetadata().setUid("uid-of-the-next-one");
        assertThat(of("Time", 1).isOf(server)).isFalse();
    }
}
