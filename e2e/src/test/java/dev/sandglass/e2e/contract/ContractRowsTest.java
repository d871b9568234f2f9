package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.contract.ContractTable.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of rows itself: complete, without rows that nobody knows, and without tests that nobody wrote. */
class ContractRowsTest {

    /** Those of the older systems; where they clash, by the topic of the decision. */
    private static final List<String> ROWS = Stream.of(
                    numbered("I", 8, 13),
                    numbered("P", 2, 18),
                    numbered("M", 1, 44),
                    numbered("X", 8, 12),
                    Stream.of("I2", "O3", "O8", "O9", "O11", "O12", "X19"),
                    Stream.of(
                            "Time-out of an execution",
                            "Outcome",
                            "Form of the answer",
                            "Output cap",
                            "Start without config",
                            "Egress default",
                            "Environment for the code and for tools",
                            "After stop",
                            "Fresh or kept state",
                            "Default memory",
                            "Names",
                            "Known defects not to copy"))
            .flatMap(ids -> ids)
            .toList();

    /** Rows that are only mapped or dropped, or that come with the command line. */
    private static final Set<String> DROPPED = Set.of("M30", "M38", "M39");

    private static final List<Entry> ENTRIES = ContractTable.read().entries();

    private static Stream<String> numbered(String letter, int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(number -> letter + number);
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
    void aRowIsNotMerelyDropped() {
        var shown = new TreeSet<String>();
        ENTRIES.stream()
                .filter(entry -> entry.dropped().isEmpty())
                .map(Entry::rows)
                .forEach(shown::addAll);

        assertThat(ROWS)
                .filteredOn(row -> !DROPPED.contains(row))
                .allMatch(shown::contains, "has an entry that is run");
        assertThat(shown)
                .as("rows that are dropped without an entry that is run")
                .doesNotContainAnyElementsOf(DROPPED);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("entries")
    void anEntrySaysOneThing(Entry entry) {
        assertThat(entry.rows()).isNotEmpty();
        assertThat(entry.claim()).isNotBlank();
        assertThat(Stream.of(
                                !entry.calls().isEmpty(),
                                !entry.elsewhere().isEmpty(),
                                !entry.dropped().isBlank())
                        .filter(given -> given))
                .as("calls, elsewhere or dropped")
                .hasSize(1);
        assertThat(entry.config().isEmpty() || entry.own())
                .as("config without own")
                .isTrue();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("entries")
    void itsCallsAreHeldAgainstSomething(Entry entry) {
        if (!entry.calls().isEmpty()) {
            assertThat(entry.calls()).anySatisfy(call -> assertThat(call.data().size()
                            + call.text().size()
                            + call.refused().length())
                    .isPositive());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("entries")
    void testsElsewhereExist(Entry entry) throws IOException {
        for (String test : entry.elsewhere()) {
            String[] names = test.split("\\.", 2);
            String source = Files.readString(source(names[0]));
            // No blank line stands between a test's annotation and its name.
            var method = Pattern.compile(
                    "@(Parameterized)?Test\\b((?!\\n\\n).)*void %s\\(".formatted(names[1]), Pattern.DOTALL);
            assertThat(method.matcher(source).find())
                    .as("there is a test %s", test)
                    .isTrue();
        }
    }

    private static Path source(String test) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/test/java/dev/sandglass/e2e"))) {
            return files.filter(file -> file.endsWith(test + ".java"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("there is no test class " + test));
        }
    }

    @Test
    void whatIsExpectedMustBeThere() {
        assertThat(Expectation.fits("a", "a")).isTrue();
        assertThat(Expectation.fits("a", "ab")).isFalse();
        assertThat(Expectation.fits("/^a/", "ab")).isTrue();
        assertThat(Expectation.fits("/^b/", "ab")).isFalse();
        assertThat(Expectation.fits("/a/", null)).isFalse();
        assertThat(Expectation.fits(null, null)).isTrue();
        assertThat(Expectation.fits(null, "a")).isFalse();
        assertThat(Expectation.fits(2, 2.0)).isTrue();
        assertThat(Expectation.fits(2, 3)).isFalse();
        assertThat(Expectation.fits(2, "2")).isFalse();
        assertThat(Expectation.fits("/^[0-9]$/", 7)).isTrue();
    }

    @Test
    void mapsAreHeldByTheGivenFieldsAndListsWhole() {
        Map<String, @Nullable Object> answer = Map.of("a", 1, "b", List.of("x", "y"));

        assertThat(Expectation.fits(Map.of("a", 1), answer)).isTrue();
        assertThat(Expectation.fits(Map.of("c", 1), answer)).isFalse();
        assertThat(Expectation.fits(Map.of("b", List.of("y", "x")), answer)).isTrue();
        assertThat(Expectation.fits(Map.of("b", List.of("y")), answer)).isFalse();
        assertThat(Expectation.fits(Map.of("b", List.of("y", "...")), answer)).isTrue();
        assertThat(Expectation.fits(Map.of("b", List.of("z", "...")), answer)).isFalse();
        assertThat(Expectation.fits(List.of(), Arrays.asList(1, 2))).isFalse();
        assertThat(Expectation.fits(List.of(), List.of())).isTrue();
    }
}
