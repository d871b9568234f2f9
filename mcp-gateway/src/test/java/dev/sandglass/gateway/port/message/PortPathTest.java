package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PortPathTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "/sandboxes/t/My_Box/ports/8000/a/b?c=d | 8000 | - | /a/b?c=d",
                "/sandboxes/t/My_Box/ports/8000/ | 8000 | - | /",
                "/sandboxes/t/My_Box/ports/8000//x/../y%2F?a#b | 8000 | - | //x/../y%2F?a#b",
                "/sandboxes/t/My_Box/ports/8000/ports/9000/links/1/x/ | 8000 | - | /ports/9000/links/1/x/",
                "/sandboxes/t/My_Box/links/8000/1.a-_.b/a | 8000 | 1.a-_.b | /a"
            })
    void partsAreWhatTheyAre(String target, int port, String link, String rest) {
        PortPath path = PortPath.parse(target).orElseThrow();

        assertThat(path).isEqualTo(new PortPath("t", "My_Box", port, link, rest));
        assertThat(path.lacksSlash()).isFalse();
        assertThat(target).startsWith(path.prefix() + "/");
    }

    @Test
    void aMissingSlashIsSeen() {
        assertThat(PortPath.parse("/sandboxes/t/b/ports/8000").orElseThrow().lacksSlash())
                .isTrue();
        assertThat(PortPath.parse("/sandboxes/t/b/ports/8000?a=/").orElseThrow().lacksSlash())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/sandboxes/",
                "/sandboxes/t/b/ports/",
                "/sandboxes/t/b/ports/08000/",
                "/sandboxes/t/b/ports/8000x/",
                "/sandboxes/t/b/ports/800000/",
                "/sandboxes/t/b/ports/-1/",
                "/sandboxes/t%2Fu/b/ports/8000/",
                "/sandboxes/t/../b/ports/8000/",
                "/sandboxes/t/b/links/8000/",
                "/sandboxes/t/b/links/8000/a;b/",
                "/mcp",
                "http://h/sandboxes/t/b/ports/8000/"
            })
    void otherPathsAreNone(String target) {
        assertThat(PortPath.parse(target)).isEmpty();
    }

    @Test
    void aLinkIsNeverPrinted() {
        assertThat(PortPath.of("t", "b", 8000, "secret").toString()).doesNotContain("secret");
    }
}
