package dev.sandglass.gateway.tool;

import dev.sandglass.api.Reason;
import java.util.Optional;

/** What a caller has to know whose call brought a suspended sandbox back: why it was gone, and what is lost. */
final class ResumeNotice {

    private ResumeNotice() {}

    /** The notice for the reason of the Suspended condition. */
    static String of(String reason) {
        return "The sandbox was suspended%s, and was resumed for this call: variables of earlier calls were lost, so were"
                        .formatted(because(reason))
                + " files outside a persistent workspace.";
    }

    private static String because(String reason) {
        Optional<Reason> known = Reason.of(reason);
        if (known.equals(Optional.of(Reason.IDLE))) {
            return " because nobody used it";
        }
        return known.equals(Optional.of(Reason.MAX_LIFETIME))
                ? " because it reached its maximum lifetime"
                : " (%s)".formatted(reason);
    }
}
