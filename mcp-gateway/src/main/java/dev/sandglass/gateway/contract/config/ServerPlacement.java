package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.config.ConfigFields;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.Registration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** In which pod a server that an agent registers runs, and what only one of the two has. Pure. */
enum ServerPlacement {
    /** A pod of its own: what is given in {@code env} and {@code headers} is out of the code's reach. */
    OWN,
    /** The sandbox's own pod: the server sees its files, and code can read what is given. */
    SANDBOX;

    private static final String FIELD = "placement";
    private static final String DOMAINS = "allowed_domains";
    private static final int MAX_CHARS = 64;

    private static final int MAX_ARGS_CHARS = 64 * 1024;
    private static final int MAX_HEADERS_CHARS = 32 * 1024;
    private static final int MAX_CWD_CHARS = 1024;

    private static final Pattern HEADER_NAME =
            Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1," + HttpHeader.MAX_NAME + "}");
    private static final Pattern HEADER_VALUE = Pattern.compile("([!-~]([ -~]*[!-~])?)?");

    /** The one that is asked for; if none is, a pod of its own for whatever has values to keep. */
    static ServerPlacement read(Arguments arguments, Registration registration) {
        ServerPlacement placement = arguments
                .text(FIELD, MAX_CHARS)
                .map(ServerPlacement::of)
                .orElseGet(() -> hasValues(registration) || arguments.asks(DOMAINS) ? OWN : SANDBOX);
        switch (placement) {
            case OWN -> {
                refuse(arguments, "timeout", "sandbox", "; one in a pod of its own may take two minutes to start");
                check(registration);
            }
            case SANDBOX -> refuse(arguments, DOMAINS, "own", "; there the sandbox's own list holds");
        }
        return placement;
    }

    private static ServerPlacement of(String word) {
        return switch (word) {
            case "own" -> OWN;
            case "sandbox" -> SANDBOX;
            default ->
                throw new InvalidArgument(
                        "'%s' must be 'own', for a pod of its own, or 'sandbox', for the sandbox's pod"
                                .formatted(FIELD));
        };
    }

    private static boolean hasValues(Registration registration) {
        return switch (registration) {
            case Registration.Command command -> !command.env().isEmpty();
            case Registration.Url url -> !url.headers().isEmpty();
        };
    }

    private static void refuse(Arguments arguments, String field, String other, String why) {
        if (arguments.asks(field)) {
            throw new InvalidArgument("'%s' belongs to '%s' '%s'%s".formatted(field, FIELD, other, why));
        }
    }

    /** What the resource and its pod would refuse later, with less to go by. */
    private static void check(Registration registration) {
        switch (registration) {
            case Registration.Command command -> {
                int characters =
                        command.args().stream().mapToInt(String::length).sum();
                if (characters > MAX_ARGS_CHARS) {
                    throw new InvalidArgument(
                            "'args' has %d characters; at most %d are taken".formatted(characters, MAX_ARGS_CHARS));
                }
                String cwd = command.cwd();
                if (!cwd.isEmpty() && (cwd.length() > MAX_CWD_CHARS || !cwd.matches("(/|~$|~/)\\P{Cntrl}*"))) {
                    throw new InvalidArgument(
                            "'cwd' must be an absolute path, or one that begins with ~/, of at most %d characters"
                                    .formatted(MAX_CWD_CHARS));
                }
            }
            case Registration.Url url -> {
                if (url.url().length() > HttpServer.MAX_URL) {
                    throw new InvalidArgument("'url' must have at most %d characters".formatted(HttpServer.MAX_URL));
                }
                checkHeaders(url.headers());
            }
        }
    }

    private static void checkHeaders(Map<String, String> headers) {
        headers.forEach((name, value) -> {
            if (!HEADER_NAME.matcher(name).matches()) {
                throw new InvalidArgument("'headers' must have names of at most %d letters, digits and %s"
                        .formatted(HttpHeader.MAX_NAME, "!#$%&'*+.^_`|~-"));
            }
            if (!HEADER_VALUE.matcher(value).matches()) {
                throw new InvalidArgument(
                        "'headers.%s' must be one line of printable ASCII without blanks at its ends".formatted(name));
            }
        });
        int characters = headers.entrySet().stream()
                .mapToInt(header -> header.getKey().length() + header.getValue().length())
                .sum();
        if (characters > MAX_HEADERS_CHARS) {
            throw new InvalidArgument(
                    "'headers' has %d characters; at most %d are taken".formatted(characters, MAX_HEADERS_CHARS));
        }
    }

    /** The hosts that a server in a pod of its own may reach. */
    static Optional<List<String>> domains(Arguments arguments) {
        int most = SandboxToolServerSpec.MAX_DOMAINS - AgentServerSettings.MAX_REGISTRIES;
        arguments.texts(DOMAINS, most, DomainRule.MAX_LENGTH);
        return ConfigFields.allowedDomains(arguments);
    }
}
