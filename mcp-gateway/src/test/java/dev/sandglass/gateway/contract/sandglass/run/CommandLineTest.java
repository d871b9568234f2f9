package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.sandglass.run.RunCommandTool.CommandLine;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What of a {@code command} a shell gets, and how. */
class CommandLineTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            quoteCharacter = '`',
            value = {
                "cd /tmp\\r\\nls\\r\\n ! cd /tmp\\nls\\n",
                "ls -la\\r ! ls -la",
                "a=1\\r\\r\\necho $a ! a=1\\necho $a",
                "printf 'a\\rb' | wc ! printf 'a\\rb' | wc",
                "cat <<E\\r\\n\\r\\nE\\r\\n ! cat <<E\\n\\nE\\n",
                "ls\\r\\n ! ls\\n",
                "a\\nb\\r\\nc\\n ! a\\nb\\nc\\n"
            })
    void itsLinesMayEndAsOnWindows(String written, String given) {
        assertThat(CommandLine.of(written.translateEscapes(), List.of()))
                .isEqualTo(new CommandLine("sh", List.of("-c", given.translateEscapes()), true));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls &>out", "[[ -f x ]]", "a=(1)", "cat <x", "echo {1..3}", "ls *", "a;b", "x=\t"})
    void whatHasAShellsCharactersIsALine(String line) {
        assertThat(CommandLine.of(line, List.of())).isEqualTo(new CommandLine("sh", List.of("-c", line), true));
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "/bin/true", "true\r"})
    void aNameAloneIsAProgram(String name) {
        assertThat(CommandLine.of(name, List.of())).isEqualTo(new CommandLine(name.strip(), List.of(), false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\n", "", "$HOME"})
    void withAnArgumentNothingIsInterpretedAndNothingMended(String argument) {
        assertThat(CommandLine.of("sh\r", List.of(argument)))
                .isEqualTo(new CommandLine("sh\r", List.of(argument), false));
    }
}
