package dev.sandglass.e2e.egress;

import dev.sandglass.e2e.support.Answer;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Requests to hosts outside of the cluster: made again while the answer says that the site's DNS gave none, as whoever reads
 * it would. That DNS denies the name is an answer, and so is everything else.
 */
final class OnceDnsSays {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private OnceDnsSays() {}

    /** The first answer that says something else; or the last one, when patience is over. */
    static Answer of(Supplier<Answer> request) {
        return of(request, Answer::text);
    }

    /** The same of what has these words. */
    static <T> T of(Supplier<T> request, Function<T, String> words) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        T answer = request.get();
        while (isWithout(words.apply(answer)) && System.nanoTime() < end) {
            answer = request.get();
        }
        return answer;
    }

    private static boolean isWithout(String words) {
        return Stream.of("DNS could not say where this name leads", "DNS did not answer within")
                .anyMatch(words::contains);
    }
}
