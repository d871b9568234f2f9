package dev.sandglass.gateway.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.gateway.testing.PictureHeads;
import dev.sandglass.gateway.testing.PictureHeads.Format;
import dev.sandglass.testing.Fuzz;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever a file that begins as a picture goes on with: sides that its format can have, or none. */
class PictureFuzzTest {

    @Test
    void anyBytes() throws IOException {
        List<List<byte[]>> corpus = Stream.of(Format.values())
                .map(format -> List.of(PictureHeads.of(format, 640, 480)))
                .filter(head -> head.getFirst().length < 1000)
                .toList();
        Fuzz.attack(FrameMutator::new, "picture", corpus, pieces -> {
            var all = new ByteArrayOutputStream();
            pieces.forEach(all::writeBytes);
            PictureSides.of(all.toByteArray())
                    .ifPresent(sides -> assertThat(sides.longer()).isBetween(1L, 0xffffffffL));
        });
    }
}
