package dev.sandglass.egress.dns;

import static dev.sandglass.egress.dns.Queries.message;
import static dev.sandglass.egress.dns.Queries.name;
import static dev.sandglass.egress.dns.Queries.numbers;
import static dev.sandglass.egress.dns.Queries.question;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Questions of DNS to the last bit, and the answers to them. */
class MessageTest {

    private static final int[] ONE = {7, 0x0100, 1, 0, 0, 0};
    private static final int[] ONE_MORE = {7, 0x0100, 1, 0, 0, 1};

    private static Message.Question read(byte[] message) {
        Message read = Message.parse(message);
        assertThat(read).isInstanceOf(Message.Question.class);
        return (Message.Question) read;
    }

    private static void wrong(byte[] message, Code code) {
        assertThat(Message.parse(message)).isEqualTo(new Message.Wrong(7, code));
    }

    @Test
    void anOrdinaryQuestion() {
        Message.Question question = read(Queries.of("Www.Example.COM", Queries.A));
        assertThat(question.name()).contains(new HostName("www.example.com"));
        assertThat(question.type()).isEqualTo(Message.A);
        assertThat(question.text()).isEqualTo(question("Www.Example.COM", 1, 1));
        assertThat(read(Queries.extended("example.com", Queries.AAAA)).type()).isEqualTo(Message.AAAA);
    }

    @Test
    void whatNoHostIsCalledIsAQuestionWithoutAName() {
        for (byte[] odd : List.of(
                name(""),
                name("_dmarc", "example", "com"),
                name("a.b", "com"),
                name("evil\0", "example", "com"),
                name("ex ample", "com"),
                name("-a", "example", "com"),
                name("é", "example", "com"),
                name("127", "0", "0", "1"))) {
            assertThat(read(message(ONE, odd, numbers(1, 1))).name())
                    .as(HexFormat.of().formatHex(odd))
                    .isEmpty();
        }
    }

    @Test
    void theLongestNameAndOneLonger() {
        String label = "a".repeat(63);
        byte[] longest = name(label, label, label, "a".repeat(61));
        assertThat(longest).hasSize(255);
        assertThat(read(message(ONE, longest, numbers(1, 1))).name())
                .contains(new HostName(String.join(".", label, label, label, "a".repeat(61))));
        wrong(message(ONE, name(label, label, label, "a".repeat(62)), numbers(1, 1)), Code.FORMAT_ERROR);
        wrong(message(ONE, name("a".repeat(64), "com"), numbers(1, 1)), Code.FORMAT_ERROR);
    }

    @Test
    void aNameByReferenceIsNone() {
        wrong(message(ONE, numbers(0xc00c, 1, 1)), Code.FORMAT_ERROR);
        wrong(message(ONE, new byte[] {1, 'a'}, numbers(0xc00c, 1, 1)), Code.FORMAT_ERROR);
    }

    @Test
    void oneQuestionAndNothingElse() {
        byte[] question = question("example.com", 1, 1);
        wrong(message(new int[] {7, 0, 0, 0, 0, 0}), Code.FORMAT_ERROR);
        wrong(message(new int[] {7, 0, 2, 0, 0, 0}, question, question), Code.FORMAT_ERROR);
        wrong(message(new int[] {7, 0, 1, 1, 0, 0}, question), Code.FORMAT_ERROR);
        wrong(message(new int[] {7, 0, 1, 0, 1, 0}, question), Code.FORMAT_ERROR);
        wrong(message(new int[] {7, 0, 1, 0, 0, 2}, question, Queries.EDNS, Queries.EDNS), Code.FORMAT_ERROR);
        wrong(message(ONE, question, new byte[1]), Code.FORMAT_ERROR);
        wrong(message(ONE, Arrays.copyOf(question, question.length - 1)), Code.FORMAT_ERROR);
        wrong(message(ONE, question("example.com", 1, 3)), Code.REFUSED);
        wrong(message(new int[] {7, 0x2800, 1, 0, 0, 0}, question), Code.NOT_IMPLEMENTED);
    }

    @Test
    void onlyEdnsMayFollow() {
        byte[] question = question("example.com", 1, 1);
        byte[] option = message(new int[0], new byte[] {0}, numbers(41, 1232, 0, 0, 6, 10, 2, 0xabcd));
        read(message(ONE_MORE, question, option));
        wrong(message(ONE_MORE, question, Arrays.copyOf(option, option.length - 1)), Code.FORMAT_ERROR);
        wrong(message(ONE_MORE, question, option, new byte[1]), Code.FORMAT_ERROR);
        wrong(message(ONE_MORE, question, new byte[] {0}, numbers(1, 1, 0, 0, 0)), Code.FORMAT_ERROR);
        wrong(message(ONE_MORE, question, new byte[] {0}, numbers(41, 1232, 1, 0, 0)), Code.FORMAT_ERROR);
        wrong(message(ONE_MORE, question, name("a"), numbers(41, 1232, 0, 0, 0)), Code.FORMAT_ERROR);
    }

    @Test
    void aMessageHas512BytesAtMost() {
        byte[] question = question("example.com", 1, 1);
        int free = Message.MAX_BYTES - 12 - question.length - 11;
        byte[] most = message(ONE_MORE, question, new byte[] {0}, numbers(41, 1232, 0, 0, free), new byte[free]);
        assertThat(most).hasSize(Message.MAX_BYTES);
        read(most);
        wrong(
                message(ONE_MORE, question, new byte[] {0}, numbers(41, 1232, 0, 0, free + 1), new byte[free + 1]),
                Code.FORMAT_ERROR);
    }

    @Test
    void answersAndShredsAreNotAnswered() {
        assertThat(Message.parse(message(new int[] {7, 0x8180, 1, 0, 0, 0}, question("example.com", 1, 1))))
                .isEqualTo(new Message.Dropped());
        assertThat(Message.parse(new byte[0])).isEqualTo(new Message.Dropped());
        assertThat(Message.parse(Arrays.copyOf(Queries.of("a", 1), 11))).isEqualTo(new Message.Dropped());
    }

    @Test
    void anAnswerRepeatsTheQuestionAndHasTheAddressForAMoment() {
        byte[] answer = AnswerWriter.of(read(Queries.of("eXample.com", Queries.A)), IpAddress.parse("10.96.7.7"));
        assertThat(HexFormat.of().formatHex(answer))
                .isEqualTo("0007" + "8180" + "0001000100000000" + "076558616d706c6503636f6d00" + "00010001" + "c00c"
                        + "00010001" + "00000005" + "0004" + "0a600707");
        byte[] six = AnswerWriter.of(read(Queries.of("a", Queries.AAAA)), IpAddress.parse("2001:db8::7"));
        assertThat(HexFormat.of().formatHex(six))
                .endsWith("c00c" + "001c0001" + "00000005" + "0010" + "20010db8000000000000000000000007");
    }

    @Test
    void anAnswerWithoutAnAddress() {
        byte[] none = AnswerWriter.of(read(Queries.extended("a", Queries.A)), Code.NO_SUCH_NAME);
        assertThat(HexFormat.of().formatHex(none))
                .isEqualTo("0007" + "8183" + "0001000000000001" + "016100" + "00010001" + "0000290200000000000000");
        assertThat(HexFormat.of().formatHex(AnswerWriter.of(new Message.Wrong(7, Code.FORMAT_ERROR))))
                .isEqualTo("0007" + "8001" + "0000000000000000");
    }
}
