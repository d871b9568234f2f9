package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZmtpTest {

    private static final int MOST = 1000;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, MOST})
    void whatIsWrittenIsReadOnceItIsAllThere(int length) {
        ByteBuf whole = Unpooled.buffer();
        Zmtp.write(whole, new Zmtp.Frame(Zmtp.MORE, new byte[length]));
        int end = whole.writerIndex();
        for (int there = 0; there < end; there++) {
            ByteBuf part = whole.slice(0, there);
            assertThat(Zmtp.read(part, MOST)).isNull();
            assertThat(part.readerIndex()).isZero();
        }
        Zmtp.Frame frame = Objects.requireNonNull(Zmtp.read(whole, MOST));
        assertThat(frame.body()).hasSize(length);
        assertThat(frame.flags()).isEqualTo(Zmtp.MORE);
        assertThat(whole.isReadable()).isFalse();
    }

    @Test
    void aFrameOfMoreThanTheMostIsRefusedBeforeItIsThere() {
        ByteBuf head = Unpooled.buffer().writeByte(2).writeLong(MOST + 1);
        assertThatThrownBy(() -> Zmtp.read(head, MOST)).hasMessageContaining("more than 1000 bytes");
    }

    @Test
    void aLengthBeyondAllNumbersIsRefused() {
        ByteBuf head = Unpooled.buffer().writeByte(2).writeLong(-1);
        assertThatThrownBy(() -> Zmtp.read(head, MOST)).isInstanceOf(WireException.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 128, 255})
    void flagsThatNobodyDefinedAreRefused(int flags) {
        ByteBuf head = Unpooled.buffer().writeByte(flags).writeByte(0);
        assertThatThrownBy(() -> Zmtp.read(head, MOST)).isInstanceOf(WireException.class);
    }

    @Test
    void ourOwnGreetingWouldDo() {
        Zmtp.check(Zmtp.greeting());
        assertThat(Zmtp.greeting()).hasSize(Zmtp.GREETING);
    }

    @Test
    void aGreetingWithoutEncryptionIsRefused() {
        byte[] greeting = Zmtp.greeting();
        System.arraycopy("NULL\0".getBytes(StandardCharsets.US_ASCII), 0, greeting, 12, 5);
        assertThatThrownBy(() -> Zmtp.check(greeting)).hasMessageContaining("with CURVE");
    }

    @Test
    void anOldVersionIsRefused() {
        byte[] greeting = Zmtp.greeting();
        greeting[10] = 2;
        assertThatThrownBy(() -> Zmtp.check(greeting)).isInstanceOf(WireException.class);
    }

    @Test
    void aWebServerIsRefused() {
        byte[] greeting = "HTTP/1.1 400 Bad Request\r\n".repeat(3).getBytes(StandardCharsets.US_ASCII);
        assertThatThrownBy(() -> Zmtp.check(greeting)).hasMessageContaining("does not speak ZeroMQ");
    }
}
