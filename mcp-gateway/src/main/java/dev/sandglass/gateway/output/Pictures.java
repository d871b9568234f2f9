package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The pictures of one answer, in bounded memory. Pure; one thread at a time. */
final class Pictures {

    private static final int MOST = 16;
    // MCP clients get them in one JSON text.
    private static final int MOST_BYTES = 6 * 1024 * 1024;

    // What hosts of models take; anything else would make them refuse the whole answer.
    private static final Set<String> SHOWN = Set.of("image/png", "image/jpeg", "image/gif", "image/webp");

    private final List<Image> images = new ArrayList<>();
    private final AnswerShare share;
    private int bytes;
    private int leftOut;

    Pictures(AnswerShare share) {
        this.share = share;
    }

    static boolean isPicture(OutputRecord.Shown shown) {
        return shown.mime().startsWith("image/");
    }

    /** Why no answer can hold this one, as a line of text; empty if one can. */
    static String objection(OutputRecord.Shown shown) {
        if (!SHOWN.contains(shown.mime())) {
            return "[a picture of another kind than PNG, JPEG, GIF or WebP was left out]\n";
        }
        int size = shown.content().length();
        return size <= MOST_BYTES ? "" : "[a picture of %d bytes was left out: no answer holds it]\n".formatted(size);
    }

    /** Takes a picture; false if this answer has no room for it. */
    boolean take(OutputRecord.Shown shown) {
        int size = shown.content().length();
        if (images.size() >= MOST || bytes + size > MOST_BYTES || !share.change(base64(size))) {
            leftOut++;
            return false;
        }
        bytes += size;
        images.add(Image.of(shown));
        return true;
    }

    /** Has a picture stand in the place of one that was taken; false if this answer has no room for it. */
    boolean replace(int index, OutputRecord.Shown shown) {
        int size = shown.content().length();
        int before = images.get(index).bytes();
        int more = size - before;
        if (bytes + more > MOST_BYTES || !share.change(base64(size) - base64(before))) {
            return false;
        }
        bytes += more;
        images.set(index, Image.of(shown));
        return true;
    }

    /** Lets go of all of them, also of those that found no room. */
    void clear() {
        images.forEach(image -> share.change(-base64(image.bytes())));
        images.clear();
        bytes = 0;
        leftOut = 0;
    }

    /** How many bytes so many are in base64. */
    private static long base64(int bytes) {
        return (bytes + 2L) / 3 * 4;
    }

    List<Image> images() {
        return images;
    }

    /** How many came that were not taken. */
    int leftOut() {
        return leftOut;
    }
}
