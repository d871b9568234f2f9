package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.contract.sandglass.sandbox.ListTool.Entry;
import dev.sandglass.gateway.contract.sandglass.sandbox.ListTool.Kernel;
import dev.sandglass.gateway.contract.sandglass.sandbox.ListTool.Listed;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** What {@code sandbox_list} tells a model: short lines, and how much they leave out. Pure. */
final class ListText {

    /** More lines are more than a model can use; those that run come first. */
    static final int MOST_SANDBOXES = 50;

    /** Of each sandbox, where there are several. */
    private static final int MOST_SESSIONS = 4;

    private static final int MOST_DETAIL_CHARS = 300;
    private static final int MOST_WORD_CHARS = 100;
    private static final String RUNNING = "running";

    private ListText() {}

    static String of(Listed listed) {
        List<Entry> all = listed.sandboxes();
        if (all.isEmpty()) {
            return "There are no sandboxes; sandbox_run_code with a name of your choice starts one.";
        }
        boolean severalTenants = all.stream().map(Entry::namespace).distinct().count() > 1;
        return all.size() == 1 ? inFull(all.getFirst()) : inShort(listed, severalTenants);
    }

    private static String inFull(Entry sandbox) {
        var lines = new ArrayList<String>();
        lines.add(head(sandbox, sandbox.name()));
        for (Kernel session : sandbox.sessions() == null ? List.<Kernel>of() : sandbox.sessions()) {
            lines.add("session " + facts(session));
        }
        for (ListTool.Run run : sandbox.executions() == null ? List.<ListTool.Run>of() : sandbox.executions()) {
            lines.add("execution %s: %s, %s".formatted(run.executionId(), word(run.kind()), word(run.state())));
        }
        return String.join("\n", lines);
    }

    private static String inShort(Listed listed, boolean severalTenants) {
        List<Entry> all = listed.sandboxes();
        List<Entry> ordered = all.stream()
                .sorted(Comparator.comparing(sandbox -> !sandbox.state().equals(RUNNING)))
                .toList();
        var lines = new ArrayList<String>();
        ordered.stream()
                .limit(MOST_SANDBOXES)
                .map(sandbox ->
                        line(sandbox, severalTenants ? sandbox.namespace() + "/" + sandbox.name() : sandbox.name()))
                .forEach(lines::add);
        if (all.size() > MOST_SANDBOXES || listed.truncated()) {
            long running = ordered.stream()
                    .skip(MOST_SANDBOXES)
                    .filter(sandbox -> sandbox.state().equals(RUNNING))
                    .count();
            lines.add("Not shown: %d more%s, %d of them running. Name one with 'sandbox'."
                    .formatted(all.size() - lines.size(), listed.truncated() ? " and others" : "", running));
        }
        return String.join("\n", lines);
    }

    private static String line(Entry sandbox, String name) {
        String head = head(sandbox, name);
        List<Kernel> sessions = sandbox.sessions() == null ? List.of() : sandbox.sessions();
        if (sessions.isEmpty()) {
            return head;
        }
        String told =
                sessions.stream().limit(MOST_SESSIONS).map(ListText::facts).collect(Collectors.joining("; "));
        int more = sessions.size() - MOST_SESSIONS;
        return head + "; session" + (sessions.size() == 1 ? " " : "s ") + told
                + (more > 0 ? "; %d more".formatted(more) : "");
    }

    private static String head(Entry sandbox, String name) {
        String detail = ForeignText.line(Objects.requireNonNullElse(sandbox.detail(), ""), MOST_DETAIL_CHARS);
        String silent = sandbox.sessions() == null ? ", did not tell its sessions in time" : "";
        return name + ": " + sandbox.state() + silent + (detail.isEmpty() ? "" : " (" + detail + ")");
    }

    /** A session's name and words come out of the sandbox. */
    private static String facts(Kernel session) {
        String uptime = session.uptimeS() == null ? "" : ", up %d s".formatted(Math.round(session.uptimeS()));
        String env = session.pythonEnv() == null
                ? ""
                : ", environment " + ForeignText.quoted(ForeignText.line(session.pythonEnv(), MOST_WORD_CHARS));
        return "%s %s: %s, %d run%s%s%s"
                .formatted(
                        ForeignText.quoted(ForeignText.line(session.session(), MOST_WORD_CHARS)),
                        word(session.language()),
                        word(session.state()),
                        session.executions(),
                        session.executions() == 1 ? "" : "s",
                        uptime,
                        env);
    }

    private static String word(String foreign) {
        return ForeignText.line(foreign, MOST_WORD_CHARS);
    }
}
