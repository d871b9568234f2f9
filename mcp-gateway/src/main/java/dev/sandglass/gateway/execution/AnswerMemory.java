package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.output.AnswerShare;
import dev.sandglass.gateway.output.TextBytes;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.quota.RequestScope;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The memory for answers of executions: so much for each tenant and for all together. An answer takes of it as output
 * comes, also while its call waits, and gives it back when it was written, where the request says when that is ({@link
 * RequestScope}), else when it is handed on. What finds no room is left out, to be read on. Thread-safe.
 */
final class AnswerMemory {

    /**
     * Most bytes of one tenant's answers: two with as many pictures as an answer takes, 8 MiB in base64, or one with
     * all the pictures and text that a sandbox keeps of an execution. A third of the room is out of its reach.
     */
    static final long TENANT_BYTES = 16L * 1024 * 1024;

    /**
     * Most bytes of all answers, as they are counted: pictures in base64, a character as {@value
     * TextBytes#OF_CHAR} bytes. One that is being written takes two to three times that of some 300 MiB of
     * heap, and once that of 128 MiB outside of it, of which frames of WebSockets and files have 72.
     */
    static final long ALL_BYTES = 24L * 1024 * 1024;

    private final ByteBudget budget;

    AnswerMemory() {
        this(new ByteBudget(ALL_BYTES, TENANT_BYTES));
    }

    AnswerMemory(ByteBudget budget) {
        this.budget = budget;
    }

    /** Makes an answer that takes from the share it is given. */
    <T> Mono<T> of(String tenant, Function<AnswerShare, Mono<T>> making) {
        return Mono.deferContextual(context -> {
            var share = new AnswerShare(budget.share(tenant));
            Mono<T> made = making.apply(share);
            RequestScope until = RequestScope.in(context).orElse(null);
            if (until == null) {
                return made.doFinally(_ -> share.end());
            }
            until.keep(share::end);
            return made.doOnError(_ -> share.end()).doOnCancel(share::end);
        });
    }

    /** Bytes of all answers that are held now. */
    long held() {
        return budget.held();
    }
}
