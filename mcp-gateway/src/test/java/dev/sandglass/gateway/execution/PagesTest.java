package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.output.Shares;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever reads on as the answers say comes to an end, and has all that the sandbox holds. */
class PagesTest {

    private static final int CASES = 1000;
    private static final int ALL = 1_000_000;
    private static final List<String> PLAIN = List.of("a", "bc", "€", "😀", "\n", "\r\n", " ", "line\n", "é\n");
    private static final List<String> WRITTEN_OVER =
            List.of("a", "bc", "😀", "\r", "\b", "\r50%", "\u001b[31m", "\u001b[K", "\u001b[4Gx", "\n", "\r\n");

    /** All that a reader has after some pages. */
    private static final class Read {
        private final StringBuilder stdout = new StringBuilder();
        private final StringBuilder stderr = new StringBuilder();
        private final StringBuilder result = new StringBuilder();
        private final StringBuilder traceback = new StringBuilder();
        private int images;
        private long lostBytes;

        private void add(OutputCollector page) {
            stdout.append(page.stdout());
            stderr.append(page.stderr());
            String value = page.result();
            result.append(value == null ? "" : value);
            ExecutionError error = page.error();
            traceback.append(error == null ? "" : error.traceback());
            images += page.images().size();
            lostBytes += page.lostBytes();
        }

        private String facts() {
            return String.join("|", stdout, stderr, result, traceback, "" + images, "" + lostBytes);
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 30})
    void pagesOfAnySizeGiveTheWhole(int size) {
        for (int seed = 0; seed < CASES; seed++) {
            JournalModel journal = journal(new Random(seed), PLAIN);
            assertThat(read(journal, 0, size).facts())
                    .as("seed %d: %s", seed, journal)
                    .isEqualTo(read(journal, 0, ALL).facts());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5})
    void linesThatAreWrittenOverComeInTheirLastStateOnAnyPage(int size) {
        for (int seed = 0; seed < CASES; seed++) {
            JournalModel journal = journal(new Random(seed), WRITTEN_OVER);
            // A page does not know that the one before ended within a line.
            assertThat(read(journal, 0, size).facts().replace("\n", ""))
                    .as("seed %d: %s", seed, journal)
                    .isEqualTo(read(journal, 0, ALL).facts().replace("\n", ""));
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 9, 40})
    void whatTheFirstAnswerCutIsReadOn(int size) {
        for (int seed = 0; seed < CASES; seed++) {
            JournalModel journal = journal(new Random(seed), PLAIN);
            OutputCollector first = OutputCollector.headAndTail(size, Shares.wide());
            journal.feed(first, 0);
            Read rest = first.hasMore() ? read(journal, first.nextOffset(), size) : new Read();
            Read whole = read(journal, 0, ALL);
            String as = "seed " + seed + ": " + journal;
            covers(first.stdout(), rest.stdout, whole.stdout, as);
            covers(first.stderr(), rest.stderr, whole.stderr, as);
            covers(String.valueOf(first.result()), rest.result, whole.result, as);
            ExecutionError error = first.error();
            covers(error == null ? "" : error.traceback(), rest.traceback, whole.traceback, as);
        }
    }

    @Test
    void anyOffsetLeadsToTheEnd() {
        for (int seed = 0; seed < CASES; seed++) {
            Random random = new Random(seed);
            JournalModel journal = journal(random, random.nextBoolean() ? PLAIN : WRITTEN_OVER);
            read(journal, random.nextInt((int) journal.end() + 3), 1 + random.nextInt(5));
        }
    }

    @Test
    void aResultIsReadOnWithinIt() {
        var journal = new JournalModel();
        journal.show(true, "text/plain", Blob.utf8("0123456789€abc"));
        journal.raise("T".repeat(25));
        OutputCollector page = OutputCollector.page(11, 0, Shares.wide());
        journal.feed(page, 0);
        assertThat(page.result()).isEqualTo("0123456789€");
        assertThat(page.nextOffset()).isEqualTo(13);
        assertThat(page.error()).isNull();
        OutputCollector next = OutputCollector.page(11, 13, Shares.wide());
        journal.feed(next, 13);
        assertThat(next.result()).isEqualTo("abc");
        assertThat(next.error()).isEqualTo(new ExecutionError("E", "m", "T".repeat(11)));
        assertThat(next.nextOffset()).isEqualTo(16 + 11);
    }

    @Test
    void whatIsLostIsCountedAndNotToBeReadOn() {
        var journal = new JournalModel();
        journal.print(Stream.STDOUT, "begin");
        journal.print(Stream.STDOUT, "x".repeat(500));
        journal.print(Stream.STDOUT, "end");
        journal.drop(1);
        OutputCollector page = OutputCollector.page(100, 0, Shares.wide());
        journal.feed(page, 0);
        assertThat(page.stdout()).isEqualTo("begin\n[Output truncated: 500 bytes are no longer held]\nend");
        assertThat(page.lostBytes()).isEqualTo(500);
        assertThat(page.hasMore()).isFalse();
    }

    /** What is missing between the head of the first answer and the pages after it is nothing. */
    private static void covers(String first, StringBuilder rest, StringBuilder whole, String as) {
        if (first.contentEquals(whole) || whole.isEmpty()) {
            return;
        }
        String[] kept = first.split("\n\\[Output truncated: exceeded \\d+ character limit]\n", 2);
        assertThat(whole.toString()).as(as).startsWith(kept[0]).endsWith(rest.toString());
        assertThat(whole.length() - rest.length()).as(as).isLessThanOrEqualTo(kept[0].length());
    }

    private static Read read(JournalModel journal, long from, int size) {
        var read = new Read();
        long offset = from;
        boolean more = true;
        while (more) {
            OutputCollector page = OutputCollector.page(size, offset, Shares.wide());
            journal.feed(page, offset);
            read.add(page);
            more = page.hasMore();
            if (more) {
                assertThat(page.nextOffset()).as("%s", journal).isGreaterThan(offset);
            }
            offset = page.nextOffset();
        }
        return read;
    }

    private static JournalModel journal(Random random, List<String> words) {
        var journal = new JournalModel();
        int records = random.nextInt(8);
        for (int i = 0; i < records; i++) {
            switch (random.nextInt(8)) {
                case 0 -> journal.show(false, "text/plain", Blob.utf8(text(random, words)));
                case 1 -> journal.show(false, "image/png", Blob.of(new byte[1 + random.nextInt(5)]));
                case 2 -> journal.show(false, "image/svg+xml", Blob.utf8("<svg/>"));
                case 3, 4 -> journal.print(Stream.STDERR, text(random, words) + "e");
                default -> journal.print(Stream.STDOUT, text(random, words) + "o");
            }
        }
        if (random.nextBoolean()) {
            journal.show(
                    true, random.nextBoolean() ? "text/plain" : "application/json", Blob.utf8(text(random, PLAIN)));
        }
        if (random.nextInt(3) == 0) {
            journal.raise(text(random, PLAIN));
        }
        if (records > 2 && random.nextInt(3) == 0) {
            journal.drop(random.nextInt(records));
            journal.drop(random.nextInt(records));
        }
        return journal;
    }

    private static String text(Random random, List<String> words) {
        var text = new ArrayList<String>();
        int count = random.nextInt(12);
        for (int i = 0; i < count; i++) {
            text.add(words.get(random.nextInt(words.size())));
        }
        return String.join("", text);
    }
}
