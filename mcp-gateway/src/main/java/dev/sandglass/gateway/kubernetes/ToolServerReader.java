package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.toolserver.CallLimits;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.ServerName;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a resource says in the gateway's terms. Pure. */
final class ToolServerReader {

    /** How long a server's start may take: it may have to be downloaded. */
    static final Duration START = Duration.ofMinutes(2);

    private static final int MAX_TROUBLE = 1000;

    private ToolServerReader() {}

    /** The name by which code knows a server; of one that an agent registered, what it called it. */
    static String name(SandboxToolServer resource) {
        return AgentServerWrites.isOne(resource)
                ? AgentServerWrites.givenName(resource)
                : ServerName.ofResource(resource.getMetadata().getName());
    }

    /** The server; empty if it is about to go, or says what the schema refuses: a rule that is not understood opens nothing. */
    static Optional<SharedServer> read(SandboxToolServer resource) {
        ObjectMeta meta = resource.getMetadata();
        SandboxToolServerSpec spec = resource.getSpec();
        if (meta.getDeletionTimestamp() != null || spec == null || !ServerName.isName(name(resource))) {
            return Optional.empty();
        }
        Registration registration = registration(name(resource), spec);
        if (registration == null) {
            return Optional.empty();
        }
        var identity = new SharedServer.Identity(
                meta.getNamespace(),
                meta.getName(),
                meta.getUid(),
                Optional.ofNullable(meta.getGeneration()).orElse(0L));
        return bounds(spec.limits())
                .map(bounds -> new SharedServer(
                        identity,
                        registration,
                        spec.toolRules(),
                        bounds,
                        trouble(resource),
                        AgentServerWrites.isOne(resource)));
    }

    private static @Nullable Registration registration(String name, SandboxToolServerSpec spec) {
        StdioServer stdio = spec.stdio();
        HttpServer http = spec.http();
        if ((stdio == null) == (http == null)) {
            return null;
        }
        if (stdio != null) {
            return new Registration.Command(
                    name,
                    stdio.command(),
                    stdio.args(),
                    stdio.environment(),
                    Optional.ofNullable(stdio.cwd()).orElse(""),
                    START);
        }
        return http == null
                ? null
                : Registration.Transport.of(http.transport())
                        .<Registration>map(
                                way -> new Registration.Url(name, http.url(), http.headerTexts(), way, START))
                        .orElse(null);
    }

    private static Optional<SharedServer.Bounds> bounds(CallLimits limits) {
        try {
            return Optional.of(new SharedServer.Bounds(
                    limits.timeout(),
                    (int) Math.clamp(limits.maxResultBytes(), 1L, SharedServer.Bounds.MOST_RESULT_BYTES),
                    Math.clamp(limits.concurrency(), 1, CallLimits.MAX_CONCURRENCY),
                    Math.clamp(limits.callsPerExecution(), 1, CallLimits.MAX_CALLS_PER_EXECUTION)));
        } catch (IllegalArgumentException | ArithmeticException odd) {
            return Optional.empty();
        }
    }

    /** Why the operator made no sandbox for it. */
    private static Optional<String> trouble(SandboxToolServer resource) {
        return resource.observed()
                .condition(ToolServerCondition.ACCEPTED)
                .filter(accepted -> "False".equals(accepted.getStatus()))
                .map(accepted ->
                        ForeignText.line("%s: %s".formatted(accepted.getReason(), accepted.getMessage()), MAX_TROUBLE));
    }
}
