package dev.sandglass.e2e.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.dropin.EndpointRows.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of the rows I, O, P and X: each has a check, or the reason why it has none. Needs no cluster. */
class EndpointRowsTest {

    private static final List<String> ROWS = Stream.of(
                    numbered("I", 17), numbered("O", 13), numbered("P", 18), numbered("X", 19))
            .flatMap(ids -> ids)
            .toList();

    /** Rows without any check: settings of servers and of a container runtime on the user's machine. */
    private static final Set<String> UNCHECKED = Set.of("I5", "X13");

    private static final List<Entry> ENTRIES = EndpointRows.read().entries();

    private static Stream<String> numbered(String letter, int last) {
        return IntStream.rangeClosed(1, last).mapToObj(number -> letter + number);
    }

    static List<Entry> entries() {
        return ENTRIES;
    }

    @Test
    void noRowIsLostAndNoneInvented() {
        assertThat(ENTRIES.stream().flatMap(entry -> entry.rows().stream()).distinct())
                .containsExactlyInAnyOrderElementsOf(ROWS);
    }

    @Test
    void whatHasNoCheckIsKnown() {
        List<String> checked = ENTRIES.stream()
                .filter(entry -> !entry.checks().isEmpty())
                .flatMap(entry -> entry.rows().stream())
                .toList();

        assertThat(ROWS).filteredOn(row -> !checked.contains(row)).containsExactlyInAnyOrderElementsOf(UNCHECKED);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("entries")
    void anEntrySaysOneThing(Entry entry) {
        assertThat(entry.rows()).isNotEmpty();
        assertThat(entry.claim()).isNotBlank();
        assertThat(Stream.of(
                                !entry.checks().isEmpty(),
                                !entry.mapped().isBlank(),
                                !entry.dropped().isBlank())
                        .filter(given -> given))
                .as("checks, mapped or dropped")
                .hasSize(1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("entries")
    void itsChecksExist(Entry entry) throws IOException {
        for (String check : entry.checks()) {
            String[] names = check.split("\\.", 2);
            // No blank line stands between a test's annotation and its name.
            var method = Pattern.compile(
                    isOfPython(names[0])
                            ? "\n(async )?def %s\\(".formatted(names[1])
                            : "@(Parameterized)?Test\\b((?!\\n\\n).)*void %s\\(".formatted(names[1]),
                    Pattern.DOTALL);
            assertThat(method.matcher(source(names[0])).find())
                    .as("there is a test %s", check)
                    .isTrue();
        }
    }

    private static boolean isOfPython(String test) {
        return test.startsWith("test_");
    }

    private static String source(String test) throws IOException {
        Path tests = Path.of(isOfPython(test) ? "../cli/tests" : "src/test/java/dev/sandglass/e2e");
        String file = test + (isOfPython(test) ? ".py" : ".java");
        try (Stream<Path> files = Files.walk(tests)) {
            return Files.readString(files.filter(path -> path.endsWith(file))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("there is no test class or module " + test)));
        }
    }
}
