package dev.sandglass.egress.name;

import dev.sandglass.api.egress.HostName;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether a resolver answers. Without one every lookup fails while all else looks well, as behind a NetworkPolicy that does
 * not know the cluster's resolver. So this asks for names that do not exist, at the start and then every ten seconds. That
 * there is no such name is an answer; silence, a refusal and a failure are none.
 */
public final class ResolverCheck {

    private static final Logger LOG = LoggerFactory.getLogger(ResolverCheck.class);
    private static final String LABEL = "sandglass-dns-check";

    /** Until the first answer, and from then on. */
    private static final Duration SOON = Duration.ofSeconds(2);

    private static final Duration USUAL = Duration.ofSeconds(10);

    private final Names names;
    private final List<HostName> questions;
    private final String servers;
    private final EventLoop loop;

    private volatile State state = State.UNKNOWN;

    /** What is known: nothing yet, that none ever answered, that one does, or that none does any more. */
    private enum State {
        UNKNOWN,
        NEVER,
        ANSWERS,
        SILENT
    }

    /**
     * A check that has not begun.
     *
     * @param resolvConf the lines of {@code /etc/resolv.conf}: its servers for messages, and the cluster's own domain, for
     *     which the cluster's resolver needs no other one
     */
    public ResolverCheck(Names names, List<String> resolvConf, EventLoop loop, MeterRegistry meters) {
        this.names = names;
        this.questions = questions(resolvConf);
        this.servers = String.join(",", values(resolvConf, "nameserver").toList());
        this.loop = loop;
        meters.gauge("sandglass.egress.resolver.answers", this, check -> check.state == State.ANSWERS ? 1 : 0);
    }

    /** Asks for the first time, and from then on by itself until the event loop ends. */
    public void start() {
        ask(0).whenComplete((answered, failure) -> {
            boolean answers = failure == null && answered;
            become(
                    answers
                            ? State.ANSWERS
                            : state == State.UNKNOWN || state == State.NEVER ? State.NEVER : State.SILENT);
            Duration pause = state == State.NEVER ? SOON : USUAL;
            if (!loop.isShuttingDown()) {
                var _ = loop.schedule(this::start, pause.toMillis(), TimeUnit.MILLISECONDS);
            }
        });
    }

    /** Why nothing can be looked up, if no resolver ever answered; empty from the first answer on. */
    public Optional<String> obstacle() {
        return switch (state) {
            case UNKNOWN, NEVER -> Optional.of("no resolver has answered (" + servers + ")");
            case ANSWERS, SILENT -> Optional.empty();
        };
    }

    /** Whether one of the questions from there on was answered. */
    private CompletionStage<Boolean> ask(int question) {
        if (question == questions.size()) {
            return CompletableFuture.completedStage(false);
        }
        return names.lookup(questions.get(question))
                .handle((found, failure) ->
                        failure == null || (failure instanceof Names.NoSuchName no && no.isDenied()))
                .thenCompose(answered -> answered ? CompletableFuture.completedStage(true) : ask(question + 1));
    }

    private void become(State now) {
        State before = state;
        state = now;
        if (now == before) {
            return;
        }
        if (now == State.ANSWERS) {
            LOG.atInfo().addKeyValue("servers", servers).log("A resolver answers");
        } else {
            LOG.atWarn()
                    .addKeyValue("servers", servers)
                    .log(
                            "No resolver answers, so that no name can be looked up. If the chart's NetworkPolicy is in the way,"
                                    + " name the resolvers in its value networkPolicy.dns");
        }
    }

    private static List<HostName> questions(List<String> resolvConf) {
        List<HostName> questions = new ArrayList<>();
        values(resolvConf, "search")
                .filter(domain -> domain.startsWith("svc."))
                .findFirst()
                .flatMap(domain -> name(LABEL + "." + domain))
                .ifPresent(questions::add);
        // Reserved: resolvers answer it by themselves, or from what the root says.
        questions.add(HostName.parse(LABEL + ".invalid"));
        return List.copyOf(questions);
    }

    private static Optional<HostName> name(String text) {
        try {
            return Optional.of(HostName.parse(text));
        } catch (IllegalArgumentException unusual) {
            return Optional.empty();
        }
    }

    private static Stream<String> values(List<String> resolvConf, String keyword) {
        return resolvConf.stream()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words[0].equals(keyword))
                .flatMap(words -> Stream.of(words).skip(1));
    }
}
