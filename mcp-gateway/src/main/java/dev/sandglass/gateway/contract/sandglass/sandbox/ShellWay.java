package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.config.Folders;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.regex.Pattern;

/** The command that does in the sandbox's shell what tools for files refuse, because a path leads out of the workspace. Pure. */
final class ShellWay {

    private static final String WORKSPACE = "/workspace/";
    private static final int MOST_CHARS = 300;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");
    private static final Pattern SPECIAL = Pattern.compile("[\"\\\\$`!]");

    private ShellWay() {}

    /** A sentence, with the whole command if the path can be written into one. */
    static String of(SandboxProblem.Outside outside) {
        String path = outside.path().startsWith("/") ? outside.path() : WORKSPACE + outside.path();
        boolean writable = path.length() <= MOST_CHARS
                && !outside.path().startsWith("~")
                && ForeignText.line(path, MOST_CHARS).equals(path);
        String name = writable ? name(path) : "";
        if (name.isEmpty()) {
            return "Use sandbox_run_command there.";
        }
        return switch (outside.deed()) {
            // What a link in the workspace leads to is copied beside the workspace's own files.
            case READ ->
                "To read it, copy it first: sandbox_run_command 'cp -rL %s %s'."
                        .formatted(
                                word(path), word(path.startsWith(WORKSPACE) ? WORKSPACE + name + ".copy" : WORKSPACE));
            case LOOK -> "To look at it: sandbox_run_command 'ls -la %s'.".formatted(word(path));
            case WRITE ->
                path.startsWith(WORKSPACE)
                        ? "Write to another path of the workspace."
                        : "Write %s, then copy it there: sandbox_run_command 'cp %s %s'."
                                .formatted(WORKSPACE + name, word(WORKSPACE + name), word(path));
            case MAKE_FOLDER -> "To make it: sandbox_run_command 'mkdir -p %s'.".formatted(word(path));
            case CHANGE -> "Use sandbox_run_command with mv or rm there.";
        };
    }

    /** Its last part; empty if that names nothing that could be copied. */
    private static String name(String path) {
        String whole = Folders.bare(path);
        String last = whole.substring(whole.lastIndexOf('/') + 1);
        return last.equals(".") || last.equals("..") ? "" : last;
    }

    /** As a shell reads it. */
    private static String word(String path) {
        return PLAIN.matcher(path).matches()
                ? path
                : "\"" + SPECIAL.matcher(path).replaceAll("\\\\$0") + "\"";
    }
}
