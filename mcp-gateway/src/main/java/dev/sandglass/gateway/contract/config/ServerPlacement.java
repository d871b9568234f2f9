package dev.sandglass.gateway.contract.config;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.Registration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** In which pod a server that an agent registers runs, and what only one of the two has. Pure. */
public enum ServerPlacement {
    /** A pod of its own: what is given in {@code env} and {@code headers} is out of the code's reach. */
    OWN,
    /** The sandbox's own pod: the server sees its files, and code can read what is given. */
    SANDBOX;

    /** The field that names it. */
    public static final String FIELD = "placement";

    /** The field with the hosts that a server in a pod of its own may reach. */
    public static final String DOMAINS = "allowed_domains";

    private static final int MAX_CHARS = 64;

    private static final int MAX_ARGS_CHARS = 64 * 1024;
    private static final int MAX_HEADERS_CHARS = 32 * 1024;
    private static final int MAX_CWD_CHARS = 1024;

    private static final Pattern HEADER_NAME =
            Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1," + HttpHeader.MAX_NAME + "}");
    private static final Pattern HEADER_VALUE = Pattern.compile("([!-~]([ -~]*[!-~])?)?");

    /** The one that is asked for; if none is, a pod of its own for whatever has values to keep. */
    public static ServerPlacement read(Arguments arguments, Registration registration) {
        ServerPlacement placement = arguments
                .text(FIELD, MAX_CHARS)
                .map(word -> of(arguments, word))
                .orElseGet(() -> hasValues(registration) || arguments.asks(DOMAINS) ? OWN : SANDBOX);
        switch (placement) {
            case OWN -> {
                refuse(arguments, "timeout", "sandbox", "; one in a pod of its own may take two minutes to start");
                check(arguments, registration);
            }
            case SANDBOX -> refuse(arguments, DOMAINS, "own", "; there the sandbox's own list holds");
        }
        return placement;
    }

    private static ServerPlacement of(Arguments arguments, String word) {
        return switch (word) {
            case "own" -> OWN;
            case "sandbox" -> SANDBOX;
            default ->
                throw new InvalidArgument(
                        "'%s' must be 'own', for a pod of its own, or 'sandbox', for the sandbox's pod"
                                .formatted(arguments.name(FIELD)));
        };
    }

    private static boolean hasValues(Registration registration) {
        return switch (registration) {
            case Registration.Command command -> !command.env().isEmpty();
            case Registration.Url url -> !url.headers().isEmpty();
        };
    }

    /** What a caller has to know of values that are given in the sandbox's pod; empty if there are none. */
    public static Optional<String> warning(Registration registration) {
        String field =
                switch (registration) {
                    case Registration.Command _ -> "env";
                    case Registration.Url _ -> "headers";
                };
        return hasValues(registration)
                ? Optional.of("Code in the sandbox can read what you gave in '%s'.".formatted(field))
                : Optional.empty();
    }

    private static void refuse(Arguments arguments, String field, String other, String why) {
        if (arguments.asks(field)) {
            throw new InvalidArgument(
                    "'%s' belongs to '%s' '%s'%s".formatted(arguments.name(field), arguments.name(FIELD), other, why));
        }
    }

    /** What the resource and its pod would refuse later, with less to go by. */
    private static void check(Arguments arguments, Registration registration) {
        switch (registration) {
            case Registration.Command command -> {
                int characters =
                        command.args().stream().mapToInt(String::length).sum();
                if (characters > MAX_ARGS_CHARS) {
                    throw new InvalidArgument("'%s' has %d characters; at most %d are taken"
                            .formatted(arguments.name("args"), characters, MAX_ARGS_CHARS));
                }
                String cwd = command.cwd();
                if (!cwd.isEmpty() && (cwd.length() > MAX_CWD_CHARS || !cwd.matches("(/|~$|~/)\\P{Cntrl}*"))) {
                    throw new InvalidArgument(
                            "'%s' must be an absolute path, or one that begins with ~/, of at most %d characters"
                                    .formatted(arguments.name("cwd"), MAX_CWD_CHARS));
                }
            }
            case Registration.Url url -> {
                if (url.url().length() > HttpServer.MAX_URL) {
                    throw new InvalidArgument("'%s' must have at most %d characters"
                            .formatted(arguments.name("url"), HttpServer.MAX_URL));
                }
                checkHeaders(arguments.name("headers"), url.headers());
            }
        }
    }

    private static void checkHeaders(String field, Map<String, String> headers) {
        headers.forEach((name, value) -> {
            if (!HEADER_NAME.matcher(name).matches()) {
                throw new InvalidArgument("'%s' must have names of at most %d letters, digits and %s"
                        .formatted(field, HttpHeader.MAX_NAME, "!#$%&'*+.^_`|~-"));
            }
            if (!HEADER_VALUE.matcher(value).matches()) {
                throw new InvalidArgument("'%s.%s' must be one line of printable ASCII without blanks at its ends"
                        .formatted(field, name));
            }
        });
        int characters = headers.entrySet().stream()
                .mapToInt(header -> header.getKey().length() + header.getValue().length())
                .sum();
        if (characters > MAX_HEADERS_CHARS) {
            throw new InvalidArgument(
                    "'%s' has %d characters; at most %d are taken".formatted(field, characters, MAX_HEADERS_CHARS));
        }
    }

    /** The hosts that a server in a pod of its own may reach. */
    public static Optional<List<String>> domains(Arguments arguments) {
        int most = SandboxToolServerSpec.MAX_DOMAINS - AgentServerSettings.MAX_REGISTRIES;
        arguments.texts(DOMAINS, most, DomainRule.MAX_LENGTH);
        return ConfigFields.allowedDomains(arguments);
    }
}
