package dev.sandglass.gateway.toolserver;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How an MCP server is started in a sandbox's pod, or reached from there. Another one of the same name is replaced. */
public sealed interface Registration {

    /** How long a start may take if the caller does not say. */
    Duration TIMEOUT = Duration.ofSeconds(60);

    /** The longest that a caller may give it. */
    Duration MAX_TIMEOUT = Duration.ofMinutes(10);

    /** Under which code imports its tools; a name that {@link ServerName} takes. */
    String name();

    /** How long its start may take. */
    Duration timeout();

    /**
     * Where values come from that only the pod knows, by the names of variables or headers. A resource alone gives them: a
     * caller who could would read Secrets of the tenant.
     */
    Map<String, SecretEntry> secrets();

    /**
     * A program of the pod, spoken to over its standard input and output.
     *
     * @param name see {@link Registration}
     * @param command the program
     * @param args its arguments
     * @param env variables on top of the sandbox's
     * @param cwd absolute path; empty for the workspace
     * @param timeout see {@link Registration}
     * @param secrets further variables, see {@link Registration}
     */
    record Command(
            String name,
            String command,
            List<String> args,
            Map<String, String> env,
            String cwd,
            Duration timeout,
            Map<String, SecretEntry> secrets)
            implements Registration {

        /** Keeps its own copies. */
        public Command {
            args = List.copyOf(args);
            env = Map.copyOf(env);
            secrets = Map.copyOf(secrets);
        }

        /** One whose values are all known here. */
        public Command(
                String name, String command, List<String> args, Map<String, String> env, String cwd, Duration timeout) {
            this(name, command, args, env, cwd, timeout, Map.of());
        }

        /** Neither arguments nor variables: they may hold keys. */
        @Override
        public String toString() {
            return "Command[" + name + ", " + args.size() + " arguments, " + env.size() + " variables]";
        }
    }

    /** The protocol's ways over HTTP. */
    enum Transport {
        /** That of today. */
        STREAMABLE_HTTP,
        /** That of 2024. */
        SSE;

        /** As callers and supervisors write it. */
        public String word() {
            return switch (this) {
                case STREAMABLE_HTTP -> "streamable_http";
                case SSE -> "sse";
            };
        }

        /** The one that a word means; {@code http} and a hyphen are other spellings. */
        public static Optional<Transport> of(String word) {
            return switch (word.replace('-', '_')) {
                case "streamable_http", "http" -> Optional.of(STREAMABLE_HTTP);
                case "sse" -> Optional.of(SSE);
                default -> Optional.empty();
            };
        }
    }

    /**
     * A server that the pod reaches over HTTP.
     *
     * @param name see {@link Registration}
     * @param url where it is
     * @param headers sent with each request
     * @param transport how it speaks
     * @param timeout see {@link Registration}
     * @param secrets further headers, see {@link Registration}
     */
    record Url(
            String name,
            String url,
            Map<String, String> headers,
            Transport transport,
            Duration timeout,
            Map<String, SecretEntry> secrets)
            implements Registration {

        /** Keeps its own copies. */
        public Url {
            headers = Map.copyOf(headers);
            secrets = Map.copyOf(secrets);
        }

        /** One whose values are all known here. */
        public Url(String name, String url, Map<String, String> headers, Transport transport, Duration timeout) {
            this(name, url, headers, transport, timeout, Map.of());
        }

        /** Neither address nor headers: they may hold keys. */
        @Override
        public String toString() {
            return "Url[" + name + ", " + headers.size() + " headers, " + transport + "]";
        }
    }
}
