package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.junit.jupiter.api.Test;

/** Whatever comes in from whoever listens where a supervisor should: frames or a refusal, and never past a box. */
class ZmtpFuzzTest {

    private static final int MOST = 4096;
    private static final CurveKeys KEYS = keys();
    private static final CurveHandshake HANDSHAKE = new CurveHandshake(KEYS, new byte[0], byte[]::new);
    private static final CurveMessages MESSAGES =
            new CurveMessages(CurveBox.between(KEYS.theirPublic(), KEYS.ourSecret()), 3, 1);

    @Test
    void anyBytes() throws IOException {
        byte[] ready = Zmtp.join(Zmtp.name("READY"), new byte[100]);
        byte[] welcome = Zmtp.join(Zmtp.name("WELCOME"), new byte[160]);
        byte[] message = Zmtp.join(Zmtp.name("MESSAGE"), Zmtp.number(9), new byte[40]);
        List<List<byte[]>> corpus = Stream.of(Zmtp.greeting(), written(ready), written(welcome), written(message))
                .map(List::of)
                .toList();
        Fuzz.attack(FrameMutator::new, "zmtp", corpus, ZmtpFuzzTest::examine);
    }

    private static CurveKeys keys() {
        byte[] ours = new byte[CurveKeys.LENGTH];
        byte[] theirs = new byte[CurveKeys.LENGTH];
        X25519.generatePublicKey(secret(1), 0, ours, 0);
        X25519.generatePublicKey(secret(2), 0, theirs, 0);
        return new CurveKeys(ours, secret(1), theirs);
    }

    private static byte[] secret(int fill) {
        byte[] secret = new byte[CurveKeys.LENGTH];
        Arrays.fill(secret, (byte) fill);
        return secret;
    }

    private static void examine(List<byte[]> pieces) {
        byte[] whole = Zmtp.join(pieces.toArray(byte[][]::new));
        if (whole.length >= Zmtp.GREETING) {
            refusedOr(() -> Zmtp.check(whole));
        }
        ByteBuf in = Unpooled.wrappedBuffer(whole);
        refusedOr(() -> {
            for (Zmtp.Frame frame = Zmtp.read(in, MOST); frame != null; frame = Zmtp.read(in, MOST)) {
                assertThat(frame.body().length).isLessThanOrEqualTo(MOST);
                byte[] body = frame.body();
                refused(() -> HANDSHAKE.initiate(body));
                refused(() -> MESSAGES.open(body));
            }
        });
    }

    private static void refusedOr(Runnable attempt) {
        try {
            attempt.run();
        } catch (WireException refused) {
            assertThat(refused.text()).isNotEmpty();
        }
    }

    private static void refused(Runnable attempt) {
        try {
            attempt.run();
        } catch (WireException refused) {
            return;
        }
        fail("nobody without the keys can have sealed this");
    }

    private static byte[] written(byte[] body) {
        ByteBuf out = Unpooled.buffer();
        Zmtp.write(out, new Zmtp.Frame(Zmtp.COMMAND, body));
        byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return bytes;
    }
}
