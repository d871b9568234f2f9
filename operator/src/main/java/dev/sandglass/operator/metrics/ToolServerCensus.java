package dev.sandglass.operator.metrics;

import dev.sandglass.api.Reason;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** How many tool servers there are, as {@code sandglass_tool_servers}. */
final class ToolServerCensus {

    /** A server that sleeps can be used: the next call starts it. */
    private static final Set<String> READY = Set.of(
            Reason.RUNNING.value(),
            Reason.RESTARTED.value(),
            Reason.UPDATE_PENDING.value(),
            Reason.IDLE.value(),
            Reason.MAX_LIFETIME.value());

    /** Reasons of Ready that no Sandbox has. */
    private static final Set<ToolServerReason> OF_READY = EnumSet.of(
            ToolServerReason.NAME_TAKEN,
            ToolServerReason.INVALID_SPEC,
            ToolServerReason.SANDBOX_REFUSED,
            ToolServerReason.OPERATOR_ERROR);

    private static final Census.Kind<SandboxToolServer> KIND = new Census.Kind<>(
            "sandglass.tool.servers",
            "Tool servers by the reason of their condition Ready",
            reasons(),
            READY,
            server -> server.observed()
                    .condition(ToolServerCondition.READY)
                    .map(Condition::getReason)
                    .orElse(Census.UNSEEN));

    private ToolServerCensus() {}

    static Census<SandboxToolServer> of(Supplier<Stream<SandboxToolServer>> servers, LongSupplier nanoTime) {
        return new Census<>(KIND, servers, nanoTime);
    }

    private static List<String> reasons() {
        Stream<String> own = OF_READY.stream().map(ToolServerReason::value);
        Stream<String> ofSandbox = Arrays.stream(Reason.values())
                .filter(reason -> reason != Reason.POLICIES_APPLIED && reason != Reason.DOMAINS_IGNORED)
                .map(Reason::value);
        return Stream.concat(own, ofSandbox).distinct().toList();
    }
}
