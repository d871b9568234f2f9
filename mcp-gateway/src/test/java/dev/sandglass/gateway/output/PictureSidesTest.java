package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.PictureHeads;
import dev.sandglass.gateway.testing.PictureHeads.Format;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What pictures say of their sides, and what those say that are none. */
class PictureSidesTest {

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @ParameterizedTest
    @EnumSource
    void bothSidesAreFoundAndTheLongerOneCounts(Format format) {
        assertThat(PictureSides.of(PictureHeads.of(format, 1280, 12_000))).contains(new PictureSides(1280, 12_000));
        assertThat(PictureSides.of(PictureHeads.of(format, 1, 1))).contains(new PictureSides(1, 1));
        assertThat(new PictureSides(1280, 12_000).longer()).isEqualTo(12_000);
        assertThat(new PictureSides(8001, 1).longer()).isEqualTo(8001);
    }

    @ParameterizedTest
    @CsvSource({
        "PNG, -1, 4294967295",
        "JPEG, 65535, 65535",
        "GIF89, 65535, 65535",
        "VP8, 16383, 16383",
        "VP8L, 16384, 16384",
        "VP8X, 16777216, 16777216",
    })
    void theLongestSidesThatAFormatHas(Format format, int written, long side) {
        assertThat(PictureSides.of(PictureHeads.of(format, 1, written))).contains(new PictureSides(1, side));
        assertThat(PictureSides.of(PictureHeads.of(format, written, 1))).contains(new PictureSides(side, 1));
    }

    @ParameterizedTest
    @EnumSource
    void whatIsCutOffBeforeItsSidesSaysNone(Format format) {
        byte[] head = PictureHeads.of(format, 640, 480);
        int whole = head.length;
        while (PictureSides.of(Arrays.copyOf(head, whole - 1)).isPresent()) {
            whole--;
        }
        for (int length = 0; length < whole; length += length < 100 ? 1 : 97) {
            assertThat(PictureSides.of(Arrays.copyOf(head, length)))
                    .as("%d bytes", length)
                    .isEmpty();
        }
        assertThat(head.length - whole).as("bytes behind the sides").isLessThan(11);
    }

    @ParameterizedTest
    @EnumSource(names = {"PNG", "JPEG", "PROGRESSIVE", "GIF87", "GIF89", "VP8"})
    void aSideOfZeroIsNone(Format format) {
        assertThat(PictureSides.of(PictureHeads.of(format, 0, 480))).isEmpty();
        assertThat(PictureSides.of(PictureHeads.of(format, 640, 0))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ff",
                "3c737667",
                // A PNG whose first chunk is another one.
                "89504e470d0a1a0a 0000000d 43674249 00000280 000001e0",
                // Ends, or begins its data, before a frame.
                "ffd8 ffd9 ffc0 0011 08 01e0 0280",
                "ffd8 ffda 0002 ffc0 0011 08 01e0 0280",
                // A segment that ends behind the file, one without a length, one too short to hold its own.
                "ffd8 ffe0 ffff ffc0 0011 08 01e0 0280",
                "ffd8 ffe0",
                "ffd8 ffe0 00",
                "ffd8 ffe0 0000",
                // Tables and what else stands between the markers of frames.
                "ffd8 ffc4 0011 08 01e0 0280",
                "ffd8 ffc8 0011 08 01e0 0280",
                "ffd8 ffcc 0011 08 01e0 0280",
                // A WebP that is none of the three, a lossy one without its start code, a lossless one without its
                // byte.
                "52494646 00000000 57454250 56503858",
                "52494646 00000000 57454250 414e494d 00000000 00000000 0000 8002 e001",
                "52494646 00000000 57454250 56503820 00000000 000000 000000 8002 e001",
                "52494646 00000000 57454250 5650384c 00000000 2e 00000000 00000000",
                // A sound.
                "52494646 00000000 57415645 56503858 00000000 00000000 000000 000000",
            })
    void whatSaysNoSidesHasNone(String hex) {
        assertThat(PictureSides.of(bytes(hex))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // Fill bytes, junk, a stuffed byte, markers without content, an empty segment.
                "ffd8 ffffffc0 0011 08 01e0 0280",
                "ffd8 ff 0000 12 ffc0 0011 08 01e0 0280",
                "ffd8 ff00 ffc0 0011 08 01e0 0280",
                "ffd8 ff01 ffd0 ffd7 ffd8 ffc0 0011 08 01e0 0280",
                "ffd8 fffe 0002 ffcf 0011 08 01e0 0280",
                "ffd8 fffe 0000 ffc9 0011 08 01e0 0280",
            })
    void aJpegsFrameIsFoundBehindWhatDecodersPassOver(String hex) {
        assertThat(PictureSides.of(bytes(hex))).contains(new PictureSides(640, 480));
    }

    @Test
    void aMegabyteWithoutAFrameCostsLittle() {
        byte[] fill = new byte[1024 * 1024];
        Arrays.fill(fill, (byte) 0xff);
        fill[1] = (byte) 0xd8;
        byte[] empty = bytes("ffd8" + "fffe0002".repeat(256 * 1024));
        long began = System.nanoTime();
        assertThat(PictureSides.of(fill)).isEmpty();
        assertThat(PictureSides.of(empty)).isEmpty();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(5));
    }
}
