package dev.sandglass.gateway.link;

import dev.sandglass.api.EnvRules;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is said on a wire before anything else: hello, and to a seat that serves no sandbox yet what it is to be configured
 * with. Owner thread only.
 */
final class Greeting {

    private static final String ALREADY_CONFIGURED = "already_configured";

    private final LinkTarget target;
    private final Connection.Owner owner;
    private final Wire wire;
    private final String peer;

    // Of the one question that is open; the other is empty.
    private String helloId = "";
    private String configureId = "";
    private @Nullable Hello hello;
    private boolean configuredByAnother;

    private Greeting(LinkTarget target, Connection.Owner owner, Wire wire, String peer) {
        this.target = target;
        this.owner = owner;
        this.wire = wire;
        this.peer = peer;
    }

    /** Says hello; it waits in the wire until the connection stands, which saves a round through this thread. */
    static Greeting begin(LinkTarget target, Connection.Owner owner, Wire wire, String peer) {
        Greeting greeting = new Greeting(target, owner, wire, peer);
        greeting.sayHello();
        return greeting;
    }

    /** What follows from a message. */
    sealed interface Step {
        /** It answers nothing that was asked. */
        record Stray() implements Step {}

        /** The next answer decides. */
        record Waiting() implements Step {}

        /** The wire can be used. */
        record Open(Hello hello) implements Step {}

        /** The supervisor can be used later, perhaps; the reason is a clause. */
        record Later(String why) implements Step {}

        /** The supervisor cannot be used. */
        record Failed(LinkException why) implements Step {}
    }

    /** What no answer came to, as a word. */
    String unanswered() {
        return configureId.isEmpty() ? "hello" : "configure";
    }

    /** Takes a message that came in. */
    Step received(Inbound message) {
        return switch (message) {
            case Inbound.Reply reply when answers(helloId, reply.requestId()) -> greeted(reply);
            case Inbound.Refusal refusal
            when answers(helloId, refusal.requestId()) -> new Step.Failed(Hello.incompatible(refusal.message()));
            case Inbound.Reply reply
            when answers(configureId, reply.requestId()) && hello != null -> new Step.Open(hello);
            case Inbound.Refusal refusal when answers(configureId, refusal.requestId()) -> refused(refusal);
            default -> new Step.Stray();
        };
    }

    /** An answer with an empty id answers nothing, also while nothing is asked. */
    private static boolean answers(String question, String requestId) {
        return !question.isEmpty() && question.equals(requestId);
    }

    private void sayHello() {
        configureId = "";
        helloId = owner.nextId();
        wire.send(LinkFrames.verb(helloId, new Verb.Hello(peer, owner.calls().kinds())));
    }

    private Step greeted(Inbound.Reply reply) {
        helloId = "";
        try {
            Hello said = Hello.parse(reply.json(), target);
            hello = said;
            return said.toConfigure() ? configure() : new Step.Open(said);
        } catch (LinkException incompatible) {
            return new Step.Failed(incompatible);
        }
    }

    private Step configure() {
        if (configuredByAnother) {
            throw Hello.incompatible("it refuses to be configured, and says that it is not");
        }
        Optional<SeatConfiguration> known = owner.seats().of(target);
        if (known.isEmpty()) {
            return new Step.Later("what to configure the sandbox's pod with is not known here yet");
        }
        String id = owner.nextId();
        wire.send(frames(id, known.get()));
        configureId = id;
        return new Step.Waiting();
    }

    private byte[][] frames(String id, SeatConfiguration configuration) {
        EnvRules.problem(configuration.env()).ifPresent(problem -> {
            throw Hello.incompatible("spec.env: " + problem);
        });
        return LinkFrames.verb(
                id,
                new Verb.Configure(
                        target.sandboxUid(),
                        target.incarnation(),
                        configuration.env(),
                        configuration.lost().orElse(null)));
    }

    /** Of two gateways that come at once the first one counts; for whom that was, the supervisor is asked again. */
    private Step refused(Inbound.Refusal refusal) {
        if (refusal.code().equals(ALREADY_CONFIGURED)) {
            configuredByAnother = true;
            sayHello();
            return new Step.Waiting();
        }
        return new Step.Failed(Hello.incompatible(
                "it refused to be configured (%s: %s)".formatted(refusal.code(), refusal.message())));
    }
}
