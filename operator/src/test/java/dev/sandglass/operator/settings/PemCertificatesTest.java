package dev.sandglass.operator.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PemCertificatesTest {

    private static String pem(String name) throws IOException {
        return Files.readString(Path.of("src/test/resources/authorities", name + ".pem"));
    }

    @Test
    void severalWithCommentsAndEitherLineEnd() throws IOException {
        String text = "# The site's\n" + pem("site").replace("\n", "\r\n") + "\nand more – of it\n" + pem("other");

        assertThat(PemCertificates.parse(text))
                .extracting(one -> one.getSubjectX500Principal().getName())
                .containsExactly("CN=site,O=Example", "CN=other,O=Example");
    }

    @Test
    void whatIsWrittenIsWhatWasRead() throws IOException {
        String both = pem("site") + pem("other");

        assertThat(PemCertificates.text(PemCertificates.parse(both))).isEqualTo(both);
    }

    @ParameterizedTest
    @CsvSource({
        "nothing of the kind, there is no certificate in PEM",
        "/etc/ssl/ca.crt, there is no certificate in PEM",
        "-----BEGIN PRIVATE KEY-----\\nc2VjcmV0\\n-----END PRIVATE KEY-----, block 2 of the PEM is a PRIVATE KEY",
        "-----BEGIN TRUSTED CERTIFICATE-----\\nc2VjcmV0\\n-----END TRUSTED CERTIFICATE-----, is a TRUSTED CERTIFICATE",
        "-----BEGIN CERTIFICATE-----\\nc2VjcmV0\\n-----END CERTIFICATE-----, block 2 of the PEM is not a certificate",
        "-----BEGIN CERTIFICATE-----\\nc2VjcmV0, block 2 of the PEM has no -----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\\n-----END CERTIFICATE-----, block 2 of the PEM is not a certificate",
    })
    void whatIsWrongIsToldAndNeverRepeated(String text, String message) throws IOException {
        String all = (message.startsWith("there") ? "" : pem("site")) + text.replace("\\n", "\n");

        assertThatThrownBy(() -> PemCertificates.parse(all))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("c2VjcmV0");
    }

    @Test
    void nothingMayFollowACertificateInItsBlock() throws IOException {
        // The last line ends with "=", behind which a decoder may stop.
        String longer = pem("site").replace("=\n-----END", "A\nAAAA\n-----END");

        assertThatThrownBy(() -> PemCertificates.parse(longer)).hasMessageContaining("block 1 of the PEM");
    }
}
