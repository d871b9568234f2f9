package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.action.Absent;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import java.util.List;

/** The argument {@code start}: what becomes of a call whose sandbox is not there. */
final class StartArgument {

    private static final String AUTO = "auto";
    private static final String NEVER = "never";
    private static final int MAX_CHARS = 100;

    private StartArgument() {}

    static Schema addTo(Schema input) {
        return input.optional(
                "start",
                Schema.text("'never' refuses if the sandbox is not there").with("enum", List.of(AUTO, NEVER)));
    }

    static Absent read(ToolCall call) {
        String given = call.arguments().text("start", MAX_CHARS).orElse(AUTO);
        return switch (given) {
            case AUTO -> new Absent.Created(call.caller().name(), SandboxConfig.UNCHANGED);
            case NEVER -> new Absent.Refused();
            default -> throw new InvalidArgument("'start' must be 'auto' or 'never'");
        };
    }
}
