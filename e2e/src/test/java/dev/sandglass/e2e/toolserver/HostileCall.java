package dev.sandglass.e2e.toolserver;

import java.util.List;
import java.util.Locale;

/** What a tool of {@link HostileServer} does when it is called, and how such a call may end for code. */
enum HostileCall {
    BIG("ResultTooLarge or ToolTimeout"),
    MANY("ResultTooLarge or ToolTimeout"),
    DEEP("ToolTimeout or ToolError"),
    HANGS("ToolTimeout"),
    WRONG_ID("ToolTimeout"),
    NO_RESULT("ToolTimeout or ToolError"),
    NO_CONTENT("ToolError"),
    NO_MESSAGE("answered or ToolTimeout"),
    NO_UTF8("answered"),
    BATCH("ToolTimeout or answered"),
    ERROR("ToolError"),
    TWICE("answered"),
    FLOODS("answered"),
    CHANGES("answered"),
    PROGRESS("ToolTimeout"),
    REQUESTS("ToolTimeout"),
    DIES("ServerNotRunning or ToolError");

    private static final int SECONDS = 30;
    private static final int SECONDS_OF_A_SILENT_ONE = 3;

    private final String ends;

    HostileCall(String ends) {
        this.ends = ends;
    }

    /** Its name at the server. */
    String tool() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** {@code answered}, or names of exceptions. */
    List<String> ends() {
        return List.of(ends.split(" or "));
    }

    /** How long code waits for it: there is no answer to be had of some. */
    int seconds() {
        return ends.startsWith("ToolTimeout") ? SECONDS_OF_A_SILENT_ONE : SECONDS;
    }
}
