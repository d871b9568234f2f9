package dev.sandglass.gateway.http;

import java.util.List;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;

/**
 * Which of the two forms of an answer a client takes, by its header {@code Accept}: the range that names a form most closely
 * decides, and {@code q=0} excludes it (RFC 9110, section 12.5.1). Pure.
 *
 * @param json whether it takes {@code application/json}
 * @param events whether it takes {@code text/event-stream}
 * @param namesEvents whether it takes that by its name, and not by a wildcard alone
 */
public record AcceptedTypes(boolean json, boolean events, boolean namesEvents) {

    private static final AcceptedTypes ANY = new AcceptedTypes(true, true, false);

    /**
     * Reads the header, which may come in several lines. A client that sends none, or an empty one, takes anything.
     *
     * @throws InvalidMediaTypeException if it is no list of media types
     */
    public static AcceptedTypes of(List<String> lines) {
        List<MediaType> ranges = MediaType.parseMediaTypes(lines);
        if (ranges.isEmpty()) {
            return ANY;
        }
        boolean events = takes(ranges, MediaType.TEXT_EVENT_STREAM);
        return new AcceptedTypes(
                takes(ranges, MediaType.APPLICATION_JSON),
                events,
                events && ranges.stream().anyMatch(MediaType.TEXT_EVENT_STREAM::equalsTypeAndSubtype));
    }

    /** Whether it takes neither form, so that no answer can be written. */
    public boolean areNone() {
        return !json && !events;
    }

    private static boolean takes(List<MediaType> ranges, MediaType type) {
        int closest = -1;
        boolean taken = false;
        for (MediaType range : ranges) {
            int closeness = closeness(range);
            if (range.includes(type) && closeness > closest) {
                closest = closeness;
                taken = range.getQualityValue() > 0;
            }
        }
        return taken;
    }

    private static int closeness(MediaType range) {
        if (range.isWildcardType()) {
            return 0;
        }
        return range.isWildcardSubtype() ? 1 : 2;
    }
}
