package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.port.message.PortPath;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PortLinksTest {

    private static final Instant END = Instant.parse("2026-11-22T12:00:00Z");
    private final PortLinks links = new PortLinks(secret("a"));

    private static LinkSecret secret(String letter) {
        return new LinkSecret(letter.repeat(32).getBytes(StandardCharsets.US_ASCII));
    }

    private String link() {
        return links.issue("uid-1", 8000, "alice@example.com", END).orElseThrow();
    }

    @Test
    void aLinkSaysForWhomAndUntilWhen() {
        PortLinks.Claim claim = PortLinks.read(link()).orElseThrow();

        assertThat(claim.caller()).isEqualTo("alice@example.com");
        assertThat(claim.expires()).isEqualTo(END);
        assertThat(claim.toString()).doesNotContain(link());
        assertThat(links.signed(claim, "uid-1", 8000)).isTrue();
        assertThat(new PortLinks(secret("a")).signed(claim, "uid-1", 8000)).isTrue();
    }

    @Test
    void itIsGoodForNothingElse() {
        PortLinks.Claim claim = PortLinks.read(link()).orElseThrow();

        assertThat(links.signed(claim, "uid-2", 8000)).isFalse();
        assertThat(links.signed(claim, "uid-1", 8001)).isFalse();
        assertThat(new PortLinks(secret("b")).signed(claim, "uid-1", 8000)).isFalse();
    }

    @Test
    void anotherEndOrCallerIsAnotherLink() {
        String later = link().replaceFirst("^[0-9]+", Long.toString(END.getEpochSecond() + 1));
        String[] others =
                links.issue("uid-1", 8000, "mallory", END).orElseThrow().split("\\.", -1);
        String[] parts = link().split("\\.", -1);

        assertThat(links.signed(PortLinks.read(later).orElseThrow(), "uid-1", 8000))
                .isFalse();
        String swapped = parts[0] + "." + others[1] + "." + parts[2];
        assertThat(links.signed(PortLinks.read(swapped).orElseThrow(), "uid-1", 8000))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ".", "a.b", "a.b.c", "1.!.c", "1.YQ.b.c", "9999999999999.YQ.c", "-.YQ.c", "1..x.", "😀.YQ.c"
            })
    void otherTextsAreNoLinks(String text) {
        assertThat(PortLinks.read(text)).isEmpty();
    }

    @Test
    void aNameThatFitsInNoUrlGetsNoLink() {
        assertThat(links.issue("u", 8000, "a".repeat(253), END)).isPresent();
        assertThat(links.issue("u", 8000, "a".repeat(254), END)).isEmpty();
        assertThat(PortPath.parse("/sandboxes/t/b/links/8000/"
                        + links.issue("u", 8000, "a".repeat(253), END).orElseThrow() + "/"))
                .isPresent();
    }
}
