package dev.sandglass.gateway.contract.sandglass.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.action.RunningFolders.Position;
import dev.sandglass.gateway.contract.InvalidArgument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the next page begins. */
class ListCursorTest {

    @Test
    void itIsReadAgain() {
        var longest = new Position("t".repeat(63), "n".repeat(253));
        assertThat(ListCursor.text(longest))
                .hasSizeLessThan(ListCursor.MAX_CHARS)
                .matches("[A-Za-z0-9_-]+");
        assertThat(ListCursor.parse(ListCursor.text(longest))).isEqualTo(longest);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?", "YQ", "YS8", "L2E", "_w", "YS9i=", "a/b", "é"})
    void othersAreRefused(String cursor) {
        assertThatThrownBy(() -> ListCursor.parse(cursor))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("'cursor' must be a nextCursor that resources/list gave; leave it out for the first page");
    }

    @Test
    void itsLengthIsBounded() {
        String most = "YS9i".repeat(ListCursor.MAX_CHARS / 4);
        assertThat(ListCursor.parse(most)).isNotNull();
        assertThatThrownBy(() -> ListCursor.parse(most + "YS9i")).isInstanceOf(InvalidArgument.class);
    }
}
