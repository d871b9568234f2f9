package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.output.AnswerShare;
import dev.sandglass.gateway.output.TextBytes;
import dev.sandglass.gateway.quota.ByteBudget;
import dev.sandglass.gateway.quota.RequestScope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The memory that all answers of executions share. */
class AnswerMemoryTest {

    private static final long MIB = 1024 * 1024;

    private final AnswerMemory answers = new AnswerMemory();
    private final List<AnswerShare> shares = new ArrayList<>();

    /** An answer that is being made until the test ends it. */
    private Mono<String> answer(String tenant, Mono<String> making) {
        return answers.of(tenant, share -> {
            shares.add(share);
            return making;
        });
    }

    private AnswerShare begin(String tenant) {
        var _ = answer(tenant, Mono.never()).toFuture();
        return shares.getLast();
    }

    @Test
    void aTenantHasItsBytesToTheLastAndNoMore() {
        assertThat(begin("a").change(AnswerShare.ALWAYS + AnswerMemory.TENANT_BYTES - 1))
                .isTrue();
        assertThat(begin("a").change(AnswerShare.ALWAYS + 2)).isFalse();
        assertThat(begin("a").change(AnswerShare.ALWAYS + 1)).isTrue();
        assertThat(begin("a").change(AnswerShare.ALWAYS + 1)).isFalse();
        assertThat(begin("b").change(AnswerShare.ALWAYS + 1)).isTrue();
    }

    @Test
    void allTenantsTogetherHaveTheirBytesToTheLastAndNoMore() {
        assertThat(begin("a").change(AnswerShare.ALWAYS + AnswerMemory.TENANT_BYTES))
                .isTrue();
        long rest = AnswerMemory.ALL_BYTES - AnswerMemory.TENANT_BYTES;
        assertThat(begin("b").change(AnswerShare.ALWAYS + rest + 1)).isFalse();
        assertThat(begin("b").change(AnswerShare.ALWAYS + rest)).isTrue();
        assertThat(begin("c").change(AnswerShare.ALWAYS + 1)).isFalse();
        assertThat(answers.held()).isEqualTo(AnswerMemory.ALL_BYTES);
    }

    @Test
    void aShortAnswerComesWhateverOthersHold() {
        begin("a").change(AnswerShare.ALWAYS + AnswerMemory.TENANT_BYTES);
        AnswerShare share = begin("a");
        assertThat(share.change(AnswerShare.ALWAYS)).isTrue();
        assertThat(share.isShort()).isFalse();
        assertThat(share.change(1)).isFalse();
        assertThat(share.isShort()).isTrue();
    }

    @Test
    void anAnswerThatHoldsLessGivesTheRestToOthers() {
        AnswerShare share = begin("a");
        share.change(AnswerShare.ALWAYS + 2 * MIB);
        share.change(-MIB);
        assertThat(answers.held()).isEqualTo(MIB);
        share.change(-MIB - AnswerShare.ALWAYS);
        assertThat(answers.held()).isZero();
    }

    @Test
    void twoWithAllPicturesOrOneWithAllThatASandboxKeepsFit() {
        long pictures = 8 * MIB;
        assertThat(begin("a").change(pictures)).isTrue();
        assertThat(begin("a").change(pictures)).isTrue();

        AnswerShare other =
                new AnswerShare(new ByteBudget(AnswerMemory.ALL_BYTES, AnswerMemory.TENANT_BYTES).share("a"));
        long journal = 8 * MIB;
        long text = 3_000_000;
        assertThat(other.change((journal - text) * 4 / 3 + TextBytes.OF_CHAR * text))
                .isTrue();
    }

    @Test
    void aShareLastsUntilTheAnswerWasWritten() {
        Sinks.Empty<Void> written = Sinks.empty();
        CompletableFuture<String> exchange = RequestScope.of(answer("a", Mono.fromSupplier(() -> {
                            shares.getLast().change(MIB + AnswerShare.ALWAYS);
                            return "told";
                        }))
                        .flatMap(told -> written.asMono().thenReturn(told)))
                .toFuture();
        assertThat(answers.held()).isEqualTo(MIB);

        written.tryEmitEmpty();
        assertThat(exchange).isCompletedWithValue("told");
        assertThat(answers.held()).isZero();
    }

    @Test
    void ofAnExchangeThatDoesNotSayWhenItEndsNothingStays() {
        answer("a", Mono.fromSupplier(() -> {
                    shares.getLast().change(MIB);
                    return "told";
                }))
                .block();
        assertThat(answers.held()).isZero();
    }

    @Test
    void whatFailsOrIsAbandonedIsGivenBackBeforeTheAnswer() {
        var _ = RequestScope.of(answer("a", Mono.<String>defer(() -> {
                            shares.getLast().change(MIB);
                            return Mono.error(new IllegalStateException("no such execution"));
                        }))
                        .onErrorResume(told -> Mono.never()))
                .toFuture();
        assertThat(answers.held()).isZero();

        CompletableFuture<String> abandoned =
                RequestScope.of(answer("a", Mono.never())).toFuture();
        shares.getLast().change(MIB);
        abandoned.cancel(false);
        assertThat(answers.held()).isZero();
        assertThat(shares.getLast().change(MIB)).isFalse();
    }

    @Test
    void anExchangeKeepsSeveralUntilItsEnd() {
        Sinks.Empty<Void> written = Sinks.empty();
        var _ = RequestScope.of(answer("a", Mono.just("one"))
                        .flatMap(one -> answer("a", Mono.just("two")))
                        .flatMap(two -> written.asMono()))
                .toFuture();
        shares.forEach(share -> share.change(MIB + AnswerShare.ALWAYS));
        assertThat(answers.held()).isEqualTo(2 * MIB);

        written.tryEmitEmpty();
        assertThat(answers.held()).isZero();
    }
}
