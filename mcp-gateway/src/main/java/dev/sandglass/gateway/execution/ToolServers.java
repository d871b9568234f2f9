package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.toolserver.KnownServer;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.ServerAnswers;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/** The MCP servers of sandboxes. Failures come as {@link SandboxProblem}. */
public final class ToolServers {

    private static final Duration PROMPT = Duration.ofSeconds(20);

    // Behind the start the supervisor writes the functions, for which it takes two minutes at most.
    private static final Duration GENERATION = Duration.ofSeconds(150);

    private static final Pattern ARGUMENT = Pattern.compile("([a-z]+(?:_[a-z]+)*)([.\\[][^:]{0,300})?: ");

    private static final String TOO_OLD =
            "The sandbox's image is older than MCP servers in sandboxes: its supervisor does not know this request. An image"
                    + " of this release does; an image of one's own has to be built anew from that.";

    private final Function<RunningSandbox, Link> links;

    ToolServers(Function<RunningSandbox, Link> links) {
        this.links = links;
    }

    /**
     * Registers a server and waits until it runs and there are functions for its tools. Cancelling ends the waiting, and not
     * what the sandbox has begun.
     */
    public Mono<RegisteredServer> register(RunningSandbox sandbox, Registration registration) {
        return ask(
                        sandbox,
                        new Verb.RegisterServer(registration),
                        registration.timeout().plus(GENERATION))
                .map(answer -> ServerAnswers.registered(registration.name(), answer.json()));
    }

    /**
     * Writes the functions of a server that runs in another pod.
     *
     * @param tools of the server, as its pod lists them
     */
    public Mono<RegisteredServer> writeFunctions(RunningSandbox sandbox, String name, Blob tools) {
        return ask(sandbox, new Verb.WriteFunctions(name, tools), GENERATION)
                .map(answer -> ServerAnswers.registered(name, answer.json()));
    }

    /** All servers of a sandbox. */
    public Mono<List<KnownServer>> list(RunningSandbox sandbox) {
        return ask(sandbox, new Verb.ListServers(), PROMPT).map(answer -> ServerAnswers.listed(answer.json()));
    }

    /** Ends a server and forgets it. */
    public Mono<Void> remove(RunningSandbox sandbox, String name) {
        return ask(sandbox, new Verb.RemoveServer(name), PROMPT).then();
    }

    private Mono<Answer> ask(RunningSandbox sandbox, Verb verb, Duration patience) {
        return Mono.fromFuture(() -> links.apply(sandbox).ask(verb, patience))
                .onErrorMap(failure -> problem(sandbox, failure));
    }

    private static Throwable problem(RunningSandbox sandbox, Throwable failure) {
        if (LinkException.unwrap(failure) instanceof LinkException why) {
            switch (why.kind()) {
                case REFUSED -> {
                    return refusal(sandbox, why);
                }
                case UNANSWERED -> {
                    return SandboxProblem.Unreachable.unanswered(
                            sandbox.ref(), why.text(), NextStep.Plain.LIST_SERVERS, why);
                }
                case UNREACHABLE, RESTARTED, INCOMPATIBLE, OVERLOADED, CLOSED -> {
                    // Nothing that is particular to servers.
                }
            }
        }
        return Failures.problem(sandbox, failure);
    }

    /** The supervisor names the server, and says what it had as its last words. */
    private static Throwable refusal(RunningSandbox sandbox, LinkException why) {
        String not = "Not registered: " + why.text() + ".";
        return switch (why.code()) {
            case "mcp_start_failed" -> new ServerRefused(ServerRefused.Cause.START_FAILED, not, null);
            case "mcp_timeout" ->
                new ServerRefused(ServerRefused.Cause.START_TIMEOUT, not, NextStep.Plain.MORE_TIME_TO_START);
            case "mcp_too_many" -> new ServerRefused(ServerRefused.Cause.TOO_MANY, not, NextStep.Plain.REMOVE_A_SERVER);
            case "mcp_unavailable" ->
                new ServerRefused(ServerRefused.Cause.UNAVAILABLE, not, NextStep.Plain.STOP_AND_START_OTHER_IMAGE);
            case "unknown_verb", "not_supported" ->
                new ServerRefused(ServerRefused.Cause.TOO_OLD, TOO_OLD, NextStep.Plain.STOP_AND_START);
            case "bad_request", "mcp_registering" -> badRequest(why);
            default -> Failures.problem(sandbox, why);
        };
    }

    /** Of a wrong argument the supervisor says {@code name: rule}. */
    private static ServerRefused badRequest(LinkException why) {
        Matcher argument = ARGUMENT.matcher(why.text());
        return argument.lookingAt()
                ? ServerRefused.ofArgument(
                        argument.group(1),
                        argument.group(2) == null ? "" : argument.group(2),
                        why.text().substring(argument.end()))
                : new ServerRefused(
                        ServerRefused.Cause.ARGUMENT, "The sandbox refused this: " + why.text() + ".", null);
    }
}
