package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.port.PortAddress;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/**
 * What {@code sandbox_start} tells programs.
 *
 * @param sandbox the name as the caller wrote it
 * @param namespace the tenant
 * @param status one word
 * @param ports where the declared ports are reached; empty before the sandbox runs
 * @param allowedDomains hosts that its code may reach; null before the sandbox runs, and if the operator leaves some out
 * @param message all that there is to say, as the answer's text has it
 * @param warning what went otherwise than asked for, a part of the message; null if nothing
 */
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
record StartAnswer(
        String sandbox,
        String namespace,
        String status,
        List<PortAddress> ports,
        @Nullable List<String> allowedDomains,
        String message,
        @Nullable String warning) {

    static Map<String, Object> schema(String... statuses) {
        return Schema.object()
                .required("sandbox", Schema.text("Name of the sandbox"))
                .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                .required("status", Schema.text("What became of it").with("enum", List.of(statuses)))
                .required("ports", Schema.list("Where the declared ports are reached", port()))
                .required(
                        "allowed_domains",
                        Schema.list(
                                        "Hosts that its code may reach; null before it runs, and if not all of its list is"
                                                + " in force",
                                        Schema.text("Name, wildcard, address or range"))
                                .orNull())
                .required("message", Schema.text("What happened and what to do"))
                .required(
                        "warning",
                        Schema.text("What went otherwise than asked for; null if nothing")
                                .orNull())
                .keywords();
    }

    private static Schema port() {
        return Schema.object()
                .required("port", Schema.integer("The port in the sandbox"))
                .required("name", Schema.text("Its name in the resource").orNull())
                .required("url", Schema.text("For programs, which send their API key as bearer token"))
                .required(
                        "link",
                        Schema.text("For browsers: whoever has it may use the port, until it expires; null if this"
                                        + " installation has no links")
                                .orNull())
                .required(
                        "link_expires_at",
                        Schema.text("End of the link, RFC 3339").orNull());
    }

    /** Of a sandbox that does not run yet. */
    static StartAnswer pending(SandboxRef ref, String status, String text) {
        return new StartAnswer(ref.givenName(), ref.tenant(), status, List.of(), null, text, text);
    }

    /** Of one that runs. */
    static StartAnswer of(SandboxRef ref, RunningSandbox sandbox, String status, String text, List<PortAddress> ports) {
        @Nullable
        List<String> allowed =
                sandbox.reach().ignored().isPresent() ? null : sandbox.reach().allowed();
        String message = ports.isEmpty() ? text : text + "\n" + told(ports);
        return new StartAnswer(ref.givenName(), ref.tenant(), status, ports, allowed, message, null);
    }

    /** The same with something more to say. */
    StartAnswer and(String note) {
        return note.isEmpty()
                ? this
                : new StartAnswer(sandbox, namespace, status, ports, allowedDomains, message + "\n" + note, warning);
    }

    /** The same with something that went otherwise than asked for. */
    StartAnswer warned(String note) {
        String all = warning == null ? note : warning + " " + note;
        return new StartAnswer(sandbox, namespace, status, ports, allowedDomains, message + "\n" + note, all);
    }

    /** The same with what is said already as a warning. */
    StartAnswer withWarning(String said) {
        return new StartAnswer(sandbox, namespace, status, ports, allowedDomains, message, said);
    }

    ToolResult result() {
        return ToolResult.ok(message, this);
    }

    /** Where to find the ports, for a model. */
    private static String told(List<PortAddress> ports) {
        String each = ports.stream().map(StartAnswer::told).collect(Collectors.joining("\n"));
        String base = ports.getFirst().url().startsWith("/") ? "; put the address of this endpoint before them" : "";
        String link = ports.getFirst().link() == null ? "" : ", the link needs none";
        return each + "\nThe first address of a port needs the API key as bearer token" + link + base
                + ". The server in the sandbox must listen on 0.0.0.0. To leave it running, start it with"
                + " sandbox_run_command in the background of a shell, its output in a file: 'SERVER >server.log 2>&1 &'.";
    }

    private static String told(PortAddress port) {
        String plain = "Port %d: %s".formatted(port.port(), port.url());
        return port.link() == null
                ? plain
                : "%s\n  in a browser until %s: %s".formatted(plain, port.linkExpiresAt(), port.link());
    }
}
