package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.ForeignText;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why no node takes a pod, read from the message of the scheduler or of the kubelet that rejected the pod. The message counts
 * nodes and explains preemption, on which callers cannot act. Pure.
 */
public sealed interface Shortage {

    /** The cause for a caller, without a full stop. */
    String text();

    /**
     * A node is large enough, and other pods hold its capacity.
     *
     * @param resources which are short, at least one
     */
    record Full(List<String> resources) implements Shortage {
        /** Copies the list. */
        public Full {
            resources = List.copyOf(resources);
        }

        @Override
        public String text() {
            return "No node has enough free %s for it".formatted(String.join(" and ", resources));
        }
    }

    /**
     * No node is large enough, even without other pods.
     *
     * @param resources of which the pod requests too much, at least one
     */
    record TooLarge(List<String> resources) implements Shortage {
        /** Copies the list. */
        public TooLarge {
            resources = List.copyOf(resources);
        }

        @Override
        public String text() {
            return "No node is large enough for it, even without other pods: it requests too much %s"
                    .formatted(String.join(" and ", resources));
        }
    }

    /**
     * Another cause, such as a taint or a volume.
     *
     * @param text the message without its part about preemption
     */
    record Other(String text) implements Shortage {}

    /** Reads such a message. */
    static Shortage of(String message) {
        return Message.of(message).shortage();
    }

    /**
     * A message in its two parts.
     *
     * @param reasons why the pod fits on no node
     * @param preemption whether it would fit without pods of lower priority; empty if the message does not say
     */
    record Message(String reasons, String preemption) {

        private static final String POD_SLOTS = "pod slots";
        private static final int MOST_CHARS = 300;
        private static final int MOST_RESOURCES = 5;
        private static final int MOST_NAME_CHARS = 63;

        // Repeated groups would let a long name overflow the stack of Java's matcher.
        private static final Pattern LACKING = Pattern.compile(
                "\\bInsufficient ([\\w./-]{1,256})|\\b(Too many pods)\\b|\\benough resource: ([\\w./-]{1,256})");
        private static final Pattern PREEMPTION =
                Pattern.compile("(?:no new claims to deallocate,? ?)?preemption:", Pattern.CASE_INSENSITIVE);

        private static Message of(String message) {
            Matcher preemption = PREEMPTION.matcher(message);
            return preemption.find()
                    ? new Message(message.substring(0, preemption.start()), message.substring(preemption.end()))
                    : new Message(message, "");
        }

        private Shortage shortage() {
            List<String> resources = LACKING.matcher(reasons)
                    .results()
                    .map(Message::resource)
                    .distinct()
                    .limit(MOST_RESOURCES)
                    .toList();
            if (resources.isEmpty()) {
                return new Other(other());
            }
            // A node without other pods always has a slot, so a lack of slots never makes a pod too large.
            List<String> sizes =
                    resources.stream().filter(each -> !each.equals(POD_SLOTS)).toList();
            return fitsWithoutOthers() || sizes.isEmpty() ? new Full(resources) : new TooLarge(sizes);
        }

        /** False only if the scheduler says of every node that the pod would not fit there without the other pods either. */
        private boolean fitsWithoutOthers() {
            return !preemption.contains("Preemption is not helpful") || preemption.contains("No preemption victims");
        }

        private String other() {
            String line = ForeignText.line(reasons, MOST_CHARS).strip();
            String text = line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
            return text.isEmpty() ? "no reason given" : text;
        }

        private static String resource(MatchResult found) {
            if (found.group(2) != null) {
                return POD_SLOTS;
            }
            String word = found.group(1) == null ? found.group(3) : found.group(1);
            String name = word.endsWith(".") ? word.substring(0, word.length() - 1) : word;
            return switch (name.toLowerCase(Locale.ROOT)) {
                case "cpu" -> "CPU";
                case "memory" -> "memory";
                case "ephemeral-storage" -> "disk";
                case "pods" -> POD_SLOTS;
                default -> ForeignText.ascii(name, MOST_NAME_CHARS);
            };
        }
    }
}
