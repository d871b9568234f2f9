package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** What code may be written in, by the words that models use for it. */
enum CodeLanguage {
    PYTHON("python", "python|py|python3|ipython"),
    NODE("nodejs", "nodejs|node|javascript|js"),
    /** No kernel: the text is run by a new shell each time. */
    BASH("bash", "bash|sh|shell");

    /** Those of {@code sandbox_run_code}. */
    static final List<String> WORDS =
            Arrays.stream(values()).map(CodeLanguage::word).toList();

    /** Those that have sessions. */
    static final List<String> WITH_SESSIONS = List.of(PYTHON.word, NODE.word);

    private static final Pattern TYPESCRIPT = Pattern.compile("typescript|ts");
    private static final int MAX_CHARS = 100;

    private final String word;
    private final Pattern written;

    CodeLanguage(String word, String written) {
        this.word = word;
        this.written = Pattern.compile(written);
    }

    /** As programs are told it. */
    String word() {
        return word;
    }

    /** The one in the argument {@code language}; Python if there is none (contracts.md M17, M32). */
    static CodeLanguage read(Arguments arguments) {
        String given = arguments.text("language", MAX_CHARS).orElse(PYTHON.word);
        String asked = given.strip().toLowerCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(language -> language.written.matcher(asked).matches())
                .findFirst()
                .orElseThrow(() -> new InvalidArgument(
                        TYPESCRIPT.matcher(asked).matches()
                                ? "Unsupported language: %s. Leave out the types and give \"language\": \"nodejs\"."
                                        .formatted(given)
                                : "Unsupported language: %s. Use 'python', 'nodejs' or 'bash'; sandbox_run_command runs any other program that the image has."
                                        .formatted(given)));
    }
}
