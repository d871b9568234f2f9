package dev.sandglass.operator.toolserver;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import dev.sandglass.operator.lifecycle.Notice;
import dev.sandglass.operator.lifecycle.Saying;
import dev.sandglass.operator.toolserver.ToolServerDecision.Refusal;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Writes up what there is as a tool server's status. Equal input gives an equal status, hence no write. */
final class ToolServerReport {

    private static final String TRUE = "True";
    private static final String FALSE = "False";
    private static final String UNKNOWN = "Unknown";

    private ToolServerReport() {}

    /**
     * The status to publish.
     *
     * @param child the Sandbox of the resource, if it has one
     * @param refusal why the spec is not in force; empty if it is
     */
    static SandboxToolServerStatus of(
            SandboxToolServer server, Optional<Sandbox> child, Optional<Refusal> refusal, Instant now) {
        Saying accepted = refusal.map(why -> saying(FALSE, why.reason(), why.message()))
                .orElseGet(() -> saying(
                        TRUE,
                        ToolServerReason.SANDBOX_MADE,
                        "The Sandbox "
                                + SandboxToolServer.childName(
                                        server.getMetadata().getName())
                                + " exists and has the spec's settings"));
        Saying available = child.map(ToolServerReport::available)
                .orElseGet(() -> new Saying(FALSE, accepted.reason(), accepted.message()));
        Saying ready = refusal.isPresent() ? accepted : ready(child, available);
        Optional<ServerHandshake> handshake =
                child.flatMap(ToolServerReport::handshake).filter(found -> found.isOf(server));
        return new SandboxToolServerStatus(
                server.getMetadata().getGeneration(),
                List.of(
                        condition(server, ToolServerCondition.ACCEPTED, accepted, now),
                        condition(server, ToolServerCondition.AVAILABLE, available, now),
                        condition(server, ToolServerCondition.VERIFIED, verified(handshake), now),
                        condition(server, ToolServerCondition.READY, ready, now)),
                child.map(sandbox -> sandbox.getMetadata().getName()).orElse(null),
                handshake.map(ServerHandshake::serverInfo).orElse(null),
                handshake.map(ServerHandshake::toolCount).orElse(null),
                handshake.map(ServerHandshake::toolsHash).orElse(null));
    }

    /** What a gateway noted on the Sandbox; it may be of a former spec. */
    private static Optional<ServerHandshake> handshake(Sandbox child) {
        return Optional.ofNullable(child.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.MCP_HANDSHAKE))
                .flatMap(ServerHandshake::read);
    }

    /** In our words alone: what the server says of itself stands in fields of its own. */
    private static Saying verified(Optional<ServerHandshake> handshake) {
        if (handshake.isEmpty()) {
            return saying(
                    UNKNOWN,
                    ToolServerReason.NOT_VERIFIED,
                    "No gateway has talked to the server since its spec changed or its Sandbox was made; its first call"
                            + " starts it");
        }
        return handshake.get().done()
                ? saying(TRUE, ToolServerReason.VERIFIED, "The server answered the handshake of MCP")
                : saying(
                        FALSE,
                        ToolServerReason.ENDPOINT_UNAVAILABLE,
                        "The server did not start, or did not answer as an MCP server does; the error of a call has the"
                                + " cause, and the next call tries again");
    }

    /** Whether the pod is there, as the Sandbox says it. */
    private static Saying available(Sandbox child) {
        if (child.isMarkedForDeletion()) {
            return new Saying(
                    FALSE,
                    Reason.STARTING.value(),
                    "The Sandbox is being deleted; the operator makes a new one when it is gone");
        }
        return child.observed()
                .condition(ConditionType.READY)
                .map(told -> new Saying(told.getStatus(), told.getReason(), told.getMessage()))
                .orElseGet(() -> new Saying(FALSE, Reason.STARTING.value(), "The Sandbox is new"));
    }

    /** A server that sleeps is ready, since the next call starts it. */
    private static Saying ready(Optional<Sandbox> child, Saying available) {
        Optional<Reason> sleep = child.filter(sandbox -> !sandbox.isMarkedForDeletion())
                .filter(sandbox -> sandbox.observed().holds(ConditionType.SUSPENDED))
                .flatMap(sandbox -> sandbox.observed().reason(ConditionType.SUSPENDED));
        return sleep.map(cause -> switch (cause) {
                    case IDLE ->
                        new Saying(
                                TRUE,
                                cause.value(),
                                "The server was not called for its idle timeout, so its pod ended; the next call starts it");
                    case MAX_LIFETIME ->
                        new Saying(
                                TRUE,
                                cause.value(),
                                "The server's pod reached its maximum lifetime and ended; the next call starts it");
                    default -> available;
                })
                .orElse(available);
    }

    /** The status after an exception: what was known stays, but an unknown acceptance says why. */
    static SandboxToolServerStatus failed(SandboxToolServer server, String message, Instant now) {
        SandboxToolServerStatus former = server.observed();
        Long generation = server.getMetadata().getGeneration();
        if (former.holds(ToolServerCondition.ACCEPTED) && generation.equals(former.observedGeneration())) {
            return former;
        }
        Saying unknown = saying(UNKNOWN, ToolServerReason.OPERATOR_ERROR, message);
        Stream<Condition> accepted = Stream.of(condition(server, ToolServerCondition.ACCEPTED, unknown, now));
        Stream<Condition> known = Stream.of(ToolServerCondition.AVAILABLE, ToolServerCondition.VERIFIED)
                .flatMap(type -> former.condition(type).stream());
        Stream<Condition> ready = Stream.of(former.condition(ToolServerCondition.READY)
                .orElseGet(() -> condition(server, ToolServerCondition.READY, unknown, now)));
        return new SandboxToolServerStatus(
                former.observedGeneration(),
                Stream.of(accepted, known, ready).flatMap(same -> same).toList(),
                former.sandboxName(),
                former.serverInfo(),
                former.toolCount(),
                former.toolsHash());
    }

    /**
     * What a change of the status is worth telling as an Event: that a spec is not in force, and that it is again. What
     * happens to the pod, Events of the Sandbox tell.
     */
    static Optional<Notice> notice(SandboxToolServerStatus before, SandboxToolServerStatus after) {
        Optional<Condition> was = before.condition(ToolServerCondition.ACCEPTED);
        Optional<Condition> is = after.condition(ToolServerCondition.ACCEPTED);
        boolean same = was.map(Condition::getReason).equals(is.map(Condition::getReason));
        return is.filter(accepted -> !same)
                .map(accepted ->
                        Notice.of(!TRUE.equals(accepted.getStatus()), accepted.getReason(), accepted.getMessage()));
    }

    private static Saying saying(String status, ToolServerReason reason, String message) {
        return new Saying(status, reason.value(), message);
    }

    private static Condition condition(SandboxToolServer server, ToolServerCondition type, Saying saying, Instant now) {
        return saying.asCondition(type.value(), server.observed().condition(type), server, now);
    }
}
