package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.toolserver.CallLimits;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import dev.sandglass.gateway.toolserver.ServerName;
import dev.sandglass.gateway.toolserver.SharedServer;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

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
        var identity = new SharedServer.Identity(
                meta.getNamespace(),
                meta.getName(),
                meta.getUid(),
                Optional.ofNullable(meta.getGeneration()).orElse(0L));
        return registration(name(resource), spec).flatMap(registration -> bounds(spec.limits())
                .map(bounds -> new SharedServer(
                        identity,
                        registration,
                        spec.toolRules(),
                        bounds,
                        trouble(resource),
                        AgentServerWrites.isOne(resource))));
    }

    private static Optional<Registration> registration(String name, SandboxToolServerSpec spec) {
        StdioServer stdio = spec.stdio();
        HttpServer http = spec.http();
        if (stdio != null && http == null) {
            return secrets(stdio.environmentSecrets()).map(secrets -> command(name, stdio, secrets));
        }
        if (http != null && stdio == null) {
            return Registration.Transport.of(http.transport()).flatMap(way -> secrets(http.headerSecrets())
                    .map(secrets -> new Registration.Url(name, http.url(), http.headerTexts(), way, START, secrets)));
        }
        return Optional.empty();
    }

    private static Registration command(String name, StdioServer stdio, Map<String, SecretEntry> secrets) {
        return new Registration.Command(
                name,
                stdio.command(),
                stdio.args(),
                stdio.environment(),
                Optional.ofNullable(stdio.cwd()).orElse(""),
                START,
                secrets);
    }

    /** Empty if one of them is of a Secret that is not for servers. */
    private static Optional<Map<String, SecretEntry>> secrets(Map<String, SecretKeyRef> references) {
        var entries = new LinkedHashMap<String, SecretEntry>();
        for (var reference : references.entrySet()) {
            SecretKeyRef entry = reference.getValue();
            // What a schema of another release let through may lack anything.
            if (entry == null || entry.name() == null || entry.key() == null || !entry.isOpen()) {
                return Optional.empty();
            }
            entries.put(reference.getKey(), new SecretEntry(entry.name(), entry.key()));
        }
        return Optional.of(entries);
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
