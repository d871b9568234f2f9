package dev.sandglass.egress.dns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.testing.HttpMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever comes as a question: an answer or none, never one that is much longer, and never another name. */
class QueryFuzzTest {

    private static final IpAddress ADDRESS = IpAddress.parse("10.96.7.7");

    @Test
    void mutated() throws IOException {
        List<List<byte[]>> corpus = List.of(
                List.of(Queries.of("example.com", Queries.A)),
                List.of(Queries.of("data.data.www.example.com", Queries.TXT)),
                List.of(Queries.extended("www.example.com", Queries.AAAA)),
                List.of(Queries.extended("a".repeat(63) + ".example.com", Queries.HTTPS)));
        Fuzz.attack(HttpMutator::new, "queries", corpus, QueryFuzzTest::examine);
    }

    private static void examine(List<byte[]> message) {
        byte[] bytes = message.getFirst();
        switch (Message.parse(bytes)) {
            case Message.Dropped _ -> {}
            case Message.Wrong wrong -> assertThat(AnswerWriter.of(wrong)).hasSize(12);
            case Message.Question question -> {
                byte[] answer = AnswerWriter.of(question, ADDRESS);
                assertThat(answer.length).isLessThanOrEqualTo(bytes.length + AnswerWriter.MORE);
                int end = 12 + question.text().length;
                assertThat(Arrays.copyOfRange(answer, 12, end)).isEqualTo(Arrays.copyOfRange(bytes, 12, end));
                // Another reader, who knows nothing of ours, finds the same name.
                question.name().ifPresent(name -> assertThat(Queries.question(name.value(), question.type(), 1))
                        .isEqualTo(lower(question.text())));
            }
        }
    }

    private static byte[] lower(byte[] text) {
        byte[] lower = text.clone();
        // Type and class stay as they are; the lengths before labels are below all letters.
        for (int i = 0; i < lower.length - 4; i++) {
            if (lower[i] >= 'A' && lower[i] <= 'Z') {
                lower[i] = (byte) (lower[i] + 'a' - 'A');
            }
        }
        return lower;
    }
}
