package dev.sandglass.gateway.quota;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

/**
 * What a request holds until its answer was written, or will never be: a client that reads slowly makes it wait, and not
 * this process keep answers. Any thread.
 */
public final class RequestScope {

    private final List<Runnable> kept = new ArrayList<>();
    private Runnable giveBack = RequestScope::nothing;
    private boolean over;

    private RequestScope() {}

    /** The same exchange, from the request to the last byte of its answer, at whose end is given back what it holds. */
    public static <T> Mono<T> of(Mono<T> exchange) {
        return Mono.using(
                RequestScope::new,
                until -> exchange.contextWrite(context -> context.put(RequestScope.class, until)),
                RequestScope::end);
    }

    /** That of the exchange in which something is asked, if one was told. */
    public static Optional<RequestScope> in(ContextView context) {
        return context.getOrEmpty(RequestScope.class);
    }

    /** From now on this is to be given back at the end, and what was to be before is at once. */
    public void hold(Runnable next) {
        exchange(next, false).run();
    }

    /** This too is to be given back at the end, besides all else; at once if that was. */
    public void keep(Runnable share) {
        if (isOver(share)) {
            share.run();
        }
    }

    private static void nothing() {}

    private void end() {
        exchange(RequestScope::nothing, true).run();
        // It is over, so that nothing is added any more.
        kept.forEach(Runnable::run);
    }

    private synchronized boolean isOver(Runnable share) {
        if (!over) {
            kept.add(share);
        }
        return over;
    }

    private synchronized Runnable exchange(Runnable next, boolean last) {
        if (over) {
            return next;
        }
        over = last;
        Runnable before = giveBack;
        giveBack = next;
        return before;
    }
}
