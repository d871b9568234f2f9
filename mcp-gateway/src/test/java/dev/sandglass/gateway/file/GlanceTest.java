package dev.sandglass.gateway.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept of a folder's list, whatever a supervisor tells that hostile code has taken over. */
class GlanceTest {

    private static final int LIMIT = 3;
    private static final int MOST_BYTES = LIMIT * SandboxFiles.MOST_ENTRY_BYTES;
    private static final Duration SOON = Duration.ofSeconds(10);

    private final FakeSandboxes sandboxes = new FakeSandboxes();
    private final FakeSupervisor supervisor = new FakeSupervisor();
    private final SandboxFiles files = new SandboxFiles(new Executions(supervisor, sandboxes::ends));
    private final RunningSandbox box = sandboxes.addRunning("box");

    @AfterEach
    void close() {
        supervisor.close();
    }

    private List<String> glance(String told) {
        supervisor.files.answerNext("{\"truncated\":false}", told.getBytes(StandardCharsets.UTF_8));
        return Objects.requireNonNull(files.glance(box, "", LIMIT, SOON).block(SOON)).entries().stream()
                .map(FileFacts::path)
                .toList();
    }

    private static String named(String... names) {
        return List.of(names).stream()
                .map(name -> "{\"path\":\"%s\",\"type\":\"file\",\"size\":1}".formatted(name))
                .collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void noMoreEntriesAreKeptThanWereAskedFor() {
        assertThat(glance(named("a", "b", "c"))).containsExactly("a", "b", "c");
        assertThat(glance(named("a", "b", "c", "d"))).containsExactly("a", "b", "c");
        assertThat(glance("[" + "{},".repeat(1000) + "{\"path\":\"late\"}]")).isEmpty();
    }

    @Test
    void aNameAtTheBoundIsKeptAndALongerOneIsNot() {
        String most = "\ud83d\ude00".repeat(SandboxFiles.MOST_NAME_CHARS / 2) + "x";

        assertThat(glance(named(most, most + "x", "a"))).containsExactly(most, "a");
    }

    @Test
    void whatIsNoNameIsLeftOut() {
        assertThat(glance(named("a/b", "", "ok"))).containsExactly("ok");
    }

    @Test
    void aListAtTheBoundIsReadAndOneByteMoreIsRefused() {
        String list = named("a");
        String most = list + " ".repeat(MOST_BYTES - list.length());

        assertThat(glance(most)).containsExactly("a");
        assertThatThrownBy(() -> glance(most + " ")).isInstanceOf(SandboxProblem.Refused.class);
    }

    /** The honest largest list is below the bound: each byte of a name may take six as JSON. */
    @Tag("slow")
    @Test
    void theLongestNamesAreRead() {
        String name = "\\u0001".repeat(SandboxFiles.MOST_NAME_CHARS);
        String entry =
                "{\"path\":\"%s\",\"type\":\"folder\",\"size\":null,\"modified\":1700000000.123}".formatted(name);

        assertThat(glance("[" + IntStream.range(0, LIMIT).mapToObj(_ -> entry).collect(Collectors.joining(",")) + "]"))
                .hasSize(LIMIT);
    }

    @Test
    void whatElseStandsInAnEntryIsSkipped() {
        assertThat(
                        glance(
                                "[{\"more\":{\"path\":\"x\",\"all\":[[1],{}]},\"path\":\"a\",\"type\":[\"file\"]},{\"path\":{\"path\":\"b\"}}]"))
                .containsExactly("a");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "[{", "[{\"path\":\"a\"", "nonsense", "[{\"path\":}]"})
    void aListThatIsNoneIsRefused(String told) {
        assertThatThrownBy(() -> glance(told))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage("The sandbox told a list of files that cannot be read.");
    }
}
