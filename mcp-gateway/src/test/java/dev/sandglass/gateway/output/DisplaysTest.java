package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the code displays anew stands once in an answer, in its newest version, where the first one was. */
class DisplaysTest {

    private static final String PNG = "image/png";

    private OutputCollector output = OutputCollector.headAndTail(100, Shares.wide());
    private long end;

    @Test
    void theNewestVersionStandsWhereTheFirstOneWas() {
        print("before\n");
        assertThat(display("bar", "0 %")).isEqualTo("0 %\n");
        print("after, ");
        assertThat(update("bar", "50 %")).as("what listeners hear").isEqualTo("50 %\n");
        update("bar", "100 %\n");
        print("on the same line\n");
        output.end();
        assertThat(output.stdout()).isEqualTo("before\n100 %\nafter, on the same line\n");
        assertThat(output.nextOffset()).isEqualTo(end);
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void othersStayAsTheyAre() {
        display("a", "a1");
        display("b", "b1");
        add(false, "text/plain", "plain", null);
        update("b", "b2");
        update("a", "a2");
        add(true, "text/plain", "result", null);
        assertThat(output.stdout()).isEqualTo("a2\nb2\nplain\n");
        assertThat(output.result()).isEqualTo("result");
    }

    @Test
    void whatIsDisplayedAgainIsNoNewerVersion() {
        display("a", "1");
        display("a", "2");
        update("a", "3");
        assertThat(output.stdout()).isEqualTo("1\n3\n");
    }

    @Test
    void aVersionOfWhatAnEarlierAnswerToldIsShownOnce() {
        update("a", "1");
        update("a", "2");
        assertThat(output.stdout()).isEqualTo("2\n");
    }

    @Test
    void thousandsOfVersionsTakeTheRoomOfTheLast() {
        for (int i = 0; i < 10_000; i++) {
            update("a", "x".repeat(i % 50) + i);
        }
        print("after\n");
        output.end();
        assertThat(output.stdout()).isEqualTo("x".repeat(49) + "9999\nafter\n");
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void aLongerVersionTakesTheRoomOfTheTail() {
        display("a", "1");
        print("h".repeat(47) + "t".repeat(51));
        output.end();
        update("a", "12345678901");
        assertThat(output.stdout())
                .startsWith("12345678901\n" + "h".repeat(47))
                .contains("exceeded 100 character limit")
                .endsWith("]\n" + "t".repeat(40))
                .hasSize(100 + 50);
        assertThat(output.nextOffset()).isEqualTo(1 + 47 + 1);
    }

    @Test
    void aVersionForWhichThereIsNoRoomComesAtTheEnd() {
        display("a", "first");
        update("a", "v".repeat(200));
        assertThat(output.stdout()).startsWith("first\nvvv").endsWith("vvv\n").hasSize(100 + 50);
        assertThat(output.hasMore()).isTrue();
        update("a", "last");
        assertThat(output.stdout()).startsWith("last\nvvv").hasSize(99 + 50);
    }

    @Test
    void inTheTailToo() {
        print("h".repeat(60) + "\n");
        display("a", "first");
        print("between\n");
        update("a", "second");
        output.end();
        assertThat(output.stdout()).isEqualTo("h".repeat(60) + "\nsecond\nbetween\n");
        print("t".repeat(60) + "\n");
        update("a", "third");
        output.end();
        assertThat(output.stdout()).doesNotContain("first").endsWith("t\nthird\n");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 7})
    void pagesGetToTheNewestVersion(int size) {
        long from = 0;
        var read = new StringBuilder();
        do {
            output = OutputCollector.page(size, from, Shares.wide());
            end = 0;
            for (int i = 0; i < 30; i++) {
                OutputRecord record = record(false, "text/plain", "v" + i, new OutputRecord.Display("a", i > 0));
                if (record.end() > from && !output.isFull()) {
                    output.add(record);
                }
            }
            output.end();
            read.append(output.stdout());
            assertThat(output.nextOffset()).isGreaterThan(from);
            from = output.nextOffset();
        } while (output.hasMore());
        assertThat(from).isEqualTo(end);
        assertThat(read.toString().replace("\n", "")).endsWith("v29");
    }

    @Test
    void pictures() {
        add(false, PNG, "1", new OutputRecord.Display("a", false));
        add(false, PNG, "other", null);
        for (int i = 2; i < 100; i++) {
            add(false, PNG, "" + i, new OutputRecord.Display("a", true));
        }
        assertThat(output.images()).extracting(Image::bytes).containsExactly(2, 5);
        assertThat(output.images().getFirst().base64()).isEqualTo("OTk=");
        assertThat(output.imagesLeftOut()).isZero();
        assertThat(output.hasMore()).isFalse();
    }

    @Test
    void picturesKeepToTheirBoundsInEachVersion() {
        String large = "x".repeat(4 * 1024 * 1024);
        add(false, PNG, "1", new OutputRecord.Display("a", false));
        add(false, PNG, large, null);
        long before = end;
        add(false, PNG, large, new OutputRecord.Display("a", true));
        assertThat(output.images()).extracting(Image::bytes).containsExactly(1, large.length());
        assertThat(output.imagesLeftOut()).isEqualTo(1);
        assertThat(output.nextOffset()).isEqualTo(before);
    }

    @Test
    void aPictureTakesThePlaceOfTheTextThatAnnouncedIt() {
        display("a", "drawing ...");
        add(false, PNG, "1", new OutputRecord.Display("a", true));
        add(false, PNG, "22", new OutputRecord.Display("a", true));
        assertThat(output.stdout()).isEqualTo("\n");
        assertThat(output.images()).extracting(Image::bytes).containsExactly(2);
    }

    @Test
    void ofVeryManyTheFirstAreHeld() {
        output = OutputCollector.headAndTail(100_000, Shares.wide());
        for (int i = 0; i <= Displays.MOST; i++) {
            display("a" + i, "first");
        }
        update("a" + (Displays.MOST - 1), "last that is held");
        update("a" + Displays.MOST, "one more");
        assertThat(output.stdout()).endsWith("last that is held\nfirst\none more\n");
    }

    private void print(String text) {
        var record = new OutputRecord.Text(end, Stream.STDOUT, Blob.utf8(text));
        end = record.end();
        output.add(record);
    }

    private String display(String id, String text) {
        return add(false, "text/plain", text, new OutputRecord.Display(id, false));
    }

    private String update(String id, String text) {
        return add(false, "text/plain", text, new OutputRecord.Display(id, true));
    }

    private String add(boolean result, String mime, String content, OutputRecord.@Nullable Display display) {
        return output.add(record(result, mime, content, display));
    }

    private OutputRecord record(boolean result, String mime, String content, OutputRecord.@Nullable Display display) {
        var record = new OutputRecord.Shown(end, result, mime, Blob.utf8(content), null, display);
        end = record.end();
        return record;
    }
}
