package dev.sandglass.gateway.contract.sandglass.resource;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ResourceProblem;
import dev.sandglass.gateway.testing.FrameMutator;
import dev.sandglass.testing.Fuzz;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever comes as a URI, a cursor or a path that is being typed. */
class ResourcesFuzzTest {

    private static List<List<byte[]>> corpus() {
        return Stream.of(
                        "sandbox://default/box/a.txt",
                        "sandbox://Team_1/box-2/data/2026/a%20b.csv",
                        "sandbox://default/box/%2e%2e%2f%2E%2E/etc/passwd",
                        "sandbox://default/box/caf%C3%A9/\u4f60\u597d/\ud83d\ude00",
                        "sandbox://default/box/a%00b?c#d",
                        "~/data/100%25/a[1]",
                        "ZGVmYXVsdC9ib3g")
                .map(text -> List.of(text.getBytes(StandardCharsets.UTF_8)))
                .toList();
    }

    @Test
    void anyUri() throws IOException {
        Fuzz.attack(FrameMutator::new, "resource", corpus(), message -> examine(text(message)));
    }

    private static String text(List<byte[]> message) {
        return message.isEmpty() ? "" : new String(message.getFirst(), StandardCharsets.UTF_8);
    }

    private static void examine(String text) {
        try {
            SandboxUri uri = SandboxUri.parse(text);
            staysBelow(uri.path());
            assertThat(uri.text()).matches("[!-~]+");
            assertThat(SandboxUri.parse(uri.text())).isEqualTo(uri);
        } catch (InvalidArgument | InvalidNameException | ResourceProblem refused) {
            assertThat(refused.getMessage()).isNotBlank();
        }
        try {
            assertThat(ListCursor.parse(text).name()).isNotEmpty();
        } catch (InvalidArgument refused) {
            assertThat(refused).hasMessageStartingWith("'cursor' must be");
        }
        TypedPath.of(text).ifPresent(typed -> {
            if (!typed.folder().isEmpty()) {
                staysBelow(typed.folder());
            }
            typed.completed("100%25?#\u202e")
                    .ifPresent(value -> assertThat(value).startsWith(text));
        });
        completesToItself(text);
    }

    /** What a completion gives is, put into the template, the URI of the same file. */
    private static void completesToItself(String text) {
        String name = text.replace('/', '_').replace('\0', '_');
        SandboxUri.of("default", "box", "x/" + name).ifPresent(uri -> {
            String value = TypedPath.of("x/").orElseThrow().completed(name).orElseThrow();
            assertThat(SandboxUri.parse("sandbox://default/box/" + PercentEncoding.expanded(value)))
                    .isEqualTo(uri);
        });
    }

    private static void staysBelow(String path) {
        assertThat(Arrays.asList(path.split("/", -1))).doesNotContain("", ".", "..");
        assertThat(path).doesNotContain("\0");
        assertThat(path.getBytes(StandardCharsets.UTF_8)).hasSizeLessThanOrEqualTo(SandboxUri.MAX_PATH_BYTES);
    }
}
