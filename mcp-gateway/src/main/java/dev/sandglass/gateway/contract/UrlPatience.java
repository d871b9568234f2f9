package dev.sandglass.gateway.contract;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How long a client waits for an answer, as the URL of the endpoint says it: {@code /mcp?wait=4}. For clients whose own
 * time-out is short and whose model does not know it. Pure.
 */
public final class UrlPatience {

    /** The key of the URL's query. */
    public static final String WAIT = "wait";

    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,5}(\\.[0-9]{1,3})?");
    private static final double MOST = 86_400;

    private UrlPatience() {}

    /**
     * Reads it; other parameters are not its own.
     *
     * @throws InvalidArgument if it is given and is no number of seconds
     */
    public static Optional<Duration> of(Query query) {
        List<String> given = query.values(WAIT);
        if (given.isEmpty()) {
            return Optional.empty();
        }
        String seconds = given.getFirst();
        if (given.size() > 1 || !SECONDS.matcher(seconds).matches() || Double.parseDouble(seconds) > MOST) {
            throw new InvalidArgument(
                    "'wait' in the URL must be one number of seconds from 0 to 86400, as in /mcp?wait=4");
        }
        return Optional.of(Duration.ofMillis(Math.round(Double.parseDouble(seconds) * 1000)));
    }
}
