package dev.sandglass.api.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.KDF;
import javax.crypto.spec.HKDFParameterSpec;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LinkKeysTest {

    private static final String UID = "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80";
    private static final LinkSecret SECRET = new LinkSecret(bytes("0123456789abcdef0123456789abcdef"));

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    /** RFC 5869, appendix A.1 to A.3. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "22*0b, 000102030405060708090a0b0c, f0f1f2f3f4f5f6f7f8f9,"
                        + " 3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
                "0..4f, 60..af, b0..ff,"
                        + " b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
                        + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
                        + "cc30c58179ec3e87c14c01d5c1f3434f1d87",
                "22*0b, -, -,"
                        + " 8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            })
    void derivesWhatTheRfcSays(String inputKey, String salt, String info, String output) {
        byte[] expected = hex(output);
        assertThat(Hkdf.derive(octets(inputKey), octets(salt), octets(info), expected.length))
                .isEqualTo(expected);
    }

    /** {@code 22*0b} is 22 times 0x0b, {@code 60..af} every octet from 0x60 to 0xaf. */
    private static byte[] octets(String notation) {
        if (notation == null) {
            return new byte[0];
        }
        if (notation.contains("*")) {
            String[] parts = notation.split("\\*", 2);
            byte[] octets = new byte[Integer.parseInt(parts[0])];
            Arrays.fill(octets, (byte) Integer.parseInt(parts[1], 16));
            return octets;
        }
        if (notation.contains("..")) {
            int dots = notation.indexOf("..");
            int from = Integer.parseInt(notation.substring(0, dots), 16);
            int to = Integer.parseInt(notation.substring(dots + 2), 16);
            byte[] octets = new byte[to - from + 1];
            for (int i = 0; i < octets.length; i++) {
                octets[i] = (byte) (from + i);
            }
            return octets;
        }
        return hex(notation);
    }

    @RepeatedTest(20)
    void derivesWhatThePlatformsOwnKdfDerives() throws GeneralSecurityException {
        Random random = new Random();
        byte[] inputKey = new byte[1 + random.nextInt(100)];
        byte[] salt = new byte[1 + random.nextInt(100)];
        byte[] info = new byte[random.nextInt(100)];
        int length = 1 + random.nextInt(500);
        random.nextBytes(inputKey);
        random.nextBytes(salt);
        random.nextBytes(info);

        byte[] theirs = KDF.getInstance("HKDF-SHA256")
                .deriveData(HKDFParameterSpec.ofExtract()
                        .addIKM(inputKey)
                        .addSalt(salt)
                        .thenExpand(info, length));

        assertThat(Hkdf.derive(inputKey, salt, info, length)).isEqualTo(theirs);
    }

    /** RFC 7748, section 5.2. */
    @ParameterizedTest
    @CsvSource({
        "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4,"
                + "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c,"
                + "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d,"
                + "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a413,"
                + "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
    })
    void multipliesAsTheRfcSays(String scalar, String u, String result) {
        byte[] littleEndian = hex(u);
        // Section 5: implementations mask the most significant bit of the last octet.
        littleEndian[31] &= 0x7f;
        byte[] bigEndian = new byte[32];
        for (int i = 0; i < 32; i++) {
            bigEndian[i] = littleEndian[31 - i];
        }
        assertThat(CurveKey.x25519(hex(scalar), new BigInteger(1, bigEndian))).isEqualTo(hex(result));
    }

    /** RFC 7748, section 6.1. */
    @ParameterizedTest
    @CsvSource({
        "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a,"
                + "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
        "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb,"
                + "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
    })
    void publicHalvesAreThoseOfTheRfc(String secret, String publicHalf) {
        assertThat(new CurveKey(hex(secret)).publicBytes()).isEqualTo(hex(publicHalf));
    }

    /** The key pairs that ZeroMQ's own tests use. */
    @ParameterizedTest
    @CsvSource({
        "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs, Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID",
        "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6, rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7",
    })
    void publicHalvesAreThoseOfZeroMq(String secret, String publicHalf) {
        CurveKey key = new CurveKey(Z85.decode(secret));
        assertThat(key.publicZ85()).isEqualTo(publicHalf);
        assertThat(key.secretZ85()).isEqualTo(secret);
    }

    @Test
    void theSameArgumentsGiveTheSameKeysAndOthersGiveOthers() {
        LinkKeys keys = LinkKeys.derive(SECRET, UID, 1);

        assertThat(LinkKeys.derive(SECRET, UID, 1)).isEqualTo(keys);
        assertThat(LinkKeys.derive(SECRET, UID, 2).pod()).isNotEqualTo(keys.pod());
        assertThat(LinkKeys.derive(SECRET, UID + "0", 1).pod()).isNotEqualTo(keys.pod());
        assertThat(LinkKeys.derive(new LinkSecret(bytes("another secret of 32 bytes, honest")), UID, 1)
                        .pod())
                .isNotEqualTo(keys.pod());
        assertThat(keys.gateway()).isNotEqualTo(keys.pod());
    }

    @Test
    void keysAreThoseThatTheInterfaceDocumentDescribes() throws GeneralSecurityException {
        byte[] expected = KDF.getInstance("HKDF-SHA256")
                .deriveData(HKDFParameterSpec.ofExtract()
                        .addIKM(bytes("0123456789abcdef0123456789abcdef"))
                        .addSalt(bytes("sandglass-link-v1"))
                        .thenExpand(bytes("gateway|" + UID + "|12"), 32));

        assertThat(LinkKeys.derive(SECRET, UID, 12).gateway().secretBytes()).isEqualTo(expected);
    }

    @Test
    void nothingThatIsLoggedShowsASecret() {
        LinkKeys keys = LinkKeys.derive(SECRET, UID, 1);
        assertThat(keys + " " + SECRET)
                .doesNotContain(keys.pod().secretZ85(), keys.gateway().secretZ85(), "0123456789abcdef")
                .contains(keys.pod().publicZ85());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a|b"})
    void aUidThatCouldBeConfusedIsRefused(String uid) {
        assertThatThrownBy(() -> LinkKeys.derive(SECRET, uid, 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void incarnationsCountFromOneAndASeatHasZero() {
        assertThatThrownBy(() -> LinkKeys.derive(SECRET, UID, -1)).hasMessageContaining("from 1");
        assertThat(LinkKeys.derive(SECRET, UID, 0).pod().publicZ85())
                .isNotEqualTo(LinkKeys.derive(SECRET, UID, 1).pod().publicZ85());
    }

    @Test
    void oneLineEndAtTheEndOfTheSecretsFileDoesNotCount(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("secret");
        for (String end : new String[] {"", "\n", "\r\n"}) {
            Files.writeString(file, "0123456789abcdef0123456789abcdef" + end);
            assertThat(LinkSecret.read(file)).isEqualTo(SECRET);
        }
        Files.writeString(file, "short\n");
        assertThatThrownBy(() -> LinkSecret.read(file)).hasMessageContaining("5 bytes");
    }
}
