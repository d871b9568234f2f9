package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.link.CurveKey;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody between the two could try with frames that he cannot read. */
class CurveMessagesTest {

    private static final CurveKey POD = new CurveKey(new byte[] {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
        31, 32
    });
    private static final CurveKey GATEWAY = new CurveKey(new byte[CurveKey.LENGTH]);

    private final CurveBox box = CurveBox.between(POD.publicBytes(), GATEWAY.secretBytes());
    private final CurveMessages messages = new CurveMessages(box, 3, 1);

    @Test
    void aFrameComesThroughWithItsFlags() {
        Zmtp.Frame frame = messages.open(said(2, Zmtp.MORE, "hello"));
        assertThat(frame.has(Zmtp.MORE)).isTrue();
        assertThat(frame.body()).asString(StandardCharsets.US_ASCII).isEqualTo("hello");
    }

    @Test
    void theSameFrameTwiceIsRefused() {
        byte[] frame = said(2, (byte) 0, "rm -r x");
        messages.open(frame);
        assertThatThrownBy(() -> messages.open(frame)).isInstanceOf(WireException.class);
    }

    @Test
    void framesFollowOneAnother() {
        for (long number = 2; number < 300; number++) {
            assertThat(messages.open(said(number, (byte) 0, "a")).body()).hasSize(1);
        }
    }

    /** One was dropped, kept back, or comes again. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, 2, 4, 5, 259, Long.MAX_VALUE})
    void aFrameThatIsNotTheNextOneIsRefused(long number) {
        messages.open(said(2, (byte) 0, "a"));
        byte[] sealed = said(number, (byte) 0, "b");
        assertThatThrownBy(() -> messages.open(sealed)).isInstanceOf(WireException.class);
    }

    @Test
    void anotherNumberThanTheOneThatWasSealedIsRefused() {
        byte[] frame = said(2, (byte) 0, "a");
        frame[15] = 9;
        assertThatThrownBy(() -> messages.open(frame)).isInstanceOf(WireException.class);
    }

    @Test
    void ourOwnFramesSentBackAreRefused() {
        byte[] ours = messages.seal(new Zmtp.Frame((byte) 0, new byte[10])).body();
        assertThatThrownBy(() -> messages.open(ours)).isInstanceOf(WireException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 32})
    void whatIsTooShortOrNotBoxedIsRefused(int length) {
        assertThatThrownBy(() -> messages.open(new byte[length])).isInstanceOf(WireException.class);
        assertThatThrownBy(() -> messages.open(new byte[100])).isInstanceOf(WireException.class);
    }

    @Test
    void everyFrameHasItsOwnNumber() {
        Zmtp.Frame frame = new Zmtp.Frame((byte) 0, new byte[10]);
        assertThat(messages.seal(frame).body())
                .isNotEqualTo(messages.seal(frame).body());
    }

    private byte[] said(long number, byte flags, String text) {
        byte[] nonce = Zmtp.join("CurveZMQMESSAGES".getBytes(StandardCharsets.US_ASCII), Zmtp.number(number));
        byte[] plain = Zmtp.join(new byte[] {flags}, text.getBytes(StandardCharsets.US_ASCII));
        return Zmtp.join(Zmtp.name("MESSAGE"), Zmtp.number(number), box.seal(nonce, plain));
    }
}
