package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.link.CurveKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against boxes that libsodium 1.0.18 ({@code crypto_box_easy}) made of the same keys, nonce and messages. */
class CurveBoxTest {

    private static final CurveKey ALICE = new CurveKey(sha256("alice"));
    private static final CurveKey BOB = new CurveKey(sha256("bob"));
    private static final byte[] NONCE = Arrays.copyOf(sha256("nonce"), CurveBox.NONCE);

    @ParameterizedTest
    @CsvSource({
        "0, f2b6c86d370a8026ddc9222afa32e7141cb6cdef7dd7b51e1f1fed9f54ee3e65",
        "1, ea211056acbaaca09109e99bd9a60acd3e2931015400d808f4da15818f7c2922",
        "63, eea2dfe995a3ad1e26c5efc321a9ba2f16b51ee3c59076fa3c7dc3837858f0e3",
        "64, 38f18b9c905546451835a1fcc27928da606ae9f139bfafed4e2e69173f7781a5",
        "65, b2d968fae8ef2e3b0c89513454b524c98e98ee0c7b077c4e0052d792f8c6af9c",
        "1000, cbccc5d3f400b6b5f72b36666dac5c8dd319d84f5d338bf3300a4c98adc2f478",
        "70000, c150d04b967095f1cd5a6a7f4252e4b769cb15be938f2167d8a4b28ef74937b1"
    })
    void sealsAsLibsodiumDoes(int length, String sha256) {
        byte[] message = message(length);

        byte[] box = ours().seal(NONCE, message);

        assertThat(HexFormat.of().formatHex(sha256(box))).isEqualTo(sha256);
        assertThat(theirs().open(NONCE, box, 0)).isEqualTo(message);
    }

    @Test
    void opensWhatStandsBehindSomethingElse() {
        byte[] box = Zmtp.join(new byte[5], ours().seal(NONCE, message(10)));
        assertThat(theirs().open(NONCE, box, 5)).isEqualTo(message(10));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 15, 16, 40, 115})
    void oneBitThatIsOtherAndItDoesNotOpen(int at) {
        byte[] box = ours().seal(NONCE, message(100));
        box[at] ^= 1;
        assertThatThrownBy(() -> theirs().open(NONCE, box, 0)).isInstanceOf(WireException.class);
    }

    @Test
    void anotherNonceAnotherKeyOrNothingAtAllDoesNotOpen() {
        byte[] box = ours().seal(NONCE, message(100));
        CurveBox mallory = CurveBox.between(ALICE.publicBytes(), sha256("mallory"));
        assertThatThrownBy(() -> theirs().open(new byte[CurveBox.NONCE], box, 0))
                .isInstanceOf(WireException.class);
        assertThatThrownBy(() -> mallory.open(NONCE, box, 0)).isInstanceOf(WireException.class);
        assertThatThrownBy(() -> theirs().open(NONCE, Arrays.copyOf(box, CurveBox.OVERHEAD - 1), 0))
                .isInstanceOf(WireException.class)
                .hasMessageContaining("too short");
    }

    @Test
    void aPublicKeyThatMakesEverySharedKeyTheSameIsRefused() {
        byte[] zero = new byte[CurveKey.LENGTH];
        assertThatThrownBy(() -> CurveBox.between(zero, ALICE.secretBytes()))
                .isInstanceOf(WireException.class)
                .hasMessageContaining("weak");
    }

    private static CurveBox ours() {
        return CurveBox.between(BOB.publicBytes(), ALICE.secretBytes());
    }

    private static CurveBox theirs() {
        return CurveBox.between(ALICE.publicBytes(), BOB.secretBytes());
    }

    private static byte[] message(int length) {
        byte[] message = new byte[length];
        for (int i = 0; i < length; i++) {
            message[i] = (byte) (i * 7);
        }
        return message;
    }

    private static byte[] sha256(String text) {
        return sha256(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }
}
