package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which tools of a server code may call. Entries are names of tools, or globs: {@code *} stands for any characters,
 * {@code ?} for one. {@code deny} counts before {@code ask}, and {@code ask} before {@code allow}.
 *
 * @param allow null for all
 * @param deny never called
 * @param ask would need a person's approval, which does not exist yet; refused until then
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ToolRules(
        // An empty list that went missing on the way would allow every tool.
        @JsonInclude(JsonInclude.Include.NON_NULL)
        @Size(max = MAX_ENTRIES)
        @JsonPropertyDescription("Tools that code may call: names or globs, such as search_*, in which * stands for any"
                + " characters and ? for one. At most 256 entries. []: none. Default: all that neither"
                + " deny nor ask names.")
        @Nullable
        List<String> allow,

        @Size(max = MAX_ENTRIES)
        @JsonPropertyDescription(
                "Tools that code may not call, written as in allow. It counts before the other lists. At"
                        + " most 256 entries.")
        List<String> deny,

        @Size(max = MAX_ENTRIES)
        @JsonPropertyDescription(
                "Tools whose calls a person is to approve, written as in allow; it counts before allow."
                        + " There are no approvals yet, so these calls are refused. At most 256 entries.")
        List<String> ask) {

    /** Every tool. */
    public static final ToolRules ALL = new ToolRules(null, null, null);

    /** Most entries of each list. */
    public static final int MAX_ENTRIES = 256;

    /** Longest entry. */
    public static final int MAX_ENTRY = 128;

    /** What an entry is: printable ASCII without spaces. */
    public static final String ENTRY_PATTERN = "^[!-~]+$";

    public ToolRules(@Nullable List<String> allow, @Nullable List<String> deny, @Nullable List<String> ask) {
        this.allow = allow == null ? null : List.copyOf(allow);
        this.deny = deny == null ? List.of() : List.copyOf(deny);
        this.ask = ask == null ? List.of() : List.copyOf(ask);
    }

    /** What the lists say of a tool. */
    public enum Verdict {
        /** Code may call it. */
        ALLOWED,
        /** A person would have to approve the call. */
        ASK,
        /** Code may not call it. */
        DENIED
    }

    /** Whether code may call the tool of that name. */
    public Verdict verdict(String tool) {
        if (names(deny, tool)) {
            return Verdict.DENIED;
        }
        if (names(ask, tool)) {
            return Verdict.ASK;
        }
        return allow == null || names(allow, tool) ? Verdict.ALLOWED : Verdict.DENIED;
    }

    private static boolean names(List<String> entries, String tool) {
        return entries.stream().anyMatch(entry -> covers(entry, tool));
    }

    /** In time that grows with the product of the two lengths at most, whatever the entry is. */
    private static boolean covers(String glob, String text) {
        int at = 0;
        int star = -1;
        int afterStar = 0;
        int i = 0;
        while (i < text.length()) {
            if (at < glob.length() && glob.charAt(at) == '*') {
                star = at++;
                afterStar = i;
            } else if (at < glob.length() && (glob.charAt(at) == '?' || glob.charAt(at) == text.charAt(i))) {
                at++;
                i++;
            } else if (star >= 0) {
                at = star + 1;
                i = ++afterStar;
            } else {
                return false;
            }
        }
        return glob.substring(at).chars().allMatch(rest -> rest == '*');
    }
}
