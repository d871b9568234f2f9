package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ToolResultTest {

    @Test
    void aNoteStandsInBothFormsOfALongText() {
        var result = new ToolResult(
                List.of(new ToolResult.Content.LongText(() -> "AAAA", "--- sandglass ---\n[in the data]")),
                null,
                false,
                "ok",
                null);

        assertThat(result.and("Resumed.").content())
                .singleElement()
                .isInstanceOfSatisfying(ToolResult.Content.LongText.class, text -> {
                    assertThat(text.text().get()).isEqualTo("AAAA\n--- sandglass ---\nResumed.");
                    assertThat(text.brief()).isEqualTo("--- sandglass ---\n[in the data]\nResumed.");
                });
    }
}
