package dev.sandglass.api.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Z85Test {

    /** ZeroMQ RFC 32, and the test keys of ZeroMQ's own CURVE test. */
    @ParameterizedTest
    @CsvSource({
        "864fd26fb559f75b, HelloWorld",
        "8e0bdd697628b91d8f245587ee95c5b04d48963f79259877b49cd9063aead3b7, JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6",
        "bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518, Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
    })
    void writesAndReadsTheVectors(String hex, String text) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertThat(Z85.encode(bytes)).isEqualTo(text);
        assertThat(Z85.decode(text)).isEqualTo(bytes);
    }

    @RepeatedTest(20)
    void readsWhatItWrote() {
        Random random = new Random();
        byte[] bytes = new byte[4 * random.nextInt(20)];
        random.nextBytes(bytes);
        assertThat(Z85.decode(Z85.encode(bytes))).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1234", "123456", "1234~", "1234 ", "%nSc1", "#####", "ä1234"})
    void refusesWhatIsNotZ85WithoutRepeatingIt(String text) {
        assertThatThrownBy(() -> Z85.decode(text))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .doesNotContain(text);
    }

    @Test
    void refusesBytesThatDoNotDivide() {
        assertThatThrownBy(() -> Z85.encode(new byte[3])).hasMessageContaining("not 3");
    }
}
