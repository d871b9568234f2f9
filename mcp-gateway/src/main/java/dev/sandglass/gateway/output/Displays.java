package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the code displays, in the texts and pictures of one answer. What it may display anew has a place there, in which the
 * newest version stands; of more than {@value #MOST} those that come last have none, and each version is one more. Pure;
 * one thread at a time.
 */
final class Displays {

    static final int MOST = 256;

    private final CappedText text;
    private final Pictures pictures;
    private final Map<String, Place> places = new HashMap<>();
    private int left = MOST;

    private sealed interface Place {
        record InText(CappedText.Piece piece) implements Place {}

        record AmongPictures(int index) implements Place {}
    }

    Displays(CappedText text, Pictures pictures) {
        this.text = text;
        this.pictures = pictures;
    }

    /**
     * Has a text stand where the version before did.
     *
     * @return false if there is no such place, or no room
     */
    boolean renew(OutputRecord.Shown shown, String lines) {
        return place(shown) instanceof Place.InText(CappedText.Piece piece) && text.replace(piece, lines);
    }

    /** Adds a text, on lines of its own, behind what was printed before. */
    void append(OutputRecord.Shown shown, RecordPart part, String lines) {
        CappedText.Piece piece = isToBePlaced(shown) ? text.appendApart(Stream.STDOUT, lines, part.offset()) : null;
        if (piece != null) {
            place(shown, new Place.InText(piece));
            return;
        }
        text.append(Stream.STDOUT, part.text(), part.offset());
        if (!part.text().endsWith("\n")) {
            text.endLine(Stream.STDOUT, shown.end());
        }
    }

    /**
     * Takes a picture: where the version before was, or as one more.
     *
     * @return false if there is no room for it
     */
    boolean take(OutputRecord.Shown shown) {
        Place before = place(shown);
        if (before instanceof Place.AmongPictures(int index) && pictures.replace(index, shown)) {
            return true;
        }
        boolean taken = pictures.take(shown);
        if (taken && before instanceof Place.InText(CappedText.Piece piece)) {
            // What announced the picture gives way to it.
            text.replace(piece, "\n");
        }
        if (taken && isToBePlaced(shown)) {
            place(shown, new Place.AmongPictures(pictures.images().size() - 1));
        }
        return taken;
    }

    private boolean isToBePlaced(OutputRecord.Shown shown) {
        return shown.display() != null && left > 0;
    }

    private void place(OutputRecord.Shown shown, Place place) {
        OutputRecord.Display display = shown.display();
        if (display != null) {
            places.put(display.id(), place);
            left--;
        }
    }

    private @Nullable Place place(OutputRecord.Shown shown) {
        OutputRecord.Display display = shown.display();
        return display == null || !display.update() ? null : places.get(display.id());
    }
}
