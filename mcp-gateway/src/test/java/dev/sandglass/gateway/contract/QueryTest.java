package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a URL's query may have. */
class QueryTest {

    private static final Set<String> KNOWN = Set.of("b", "a");

    @ParameterizedTest
    @ValueSource(strings = {"", "&", "a=", "a=1&b=2", "&a=1&&b=2&", "a=1&a=2", "a=b=c"})
    void whatIsKnownPasses(String query) {
        assertThatCode(() -> new Query(query).check(KNOWN)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"c=1", "a=1&c=2", "c", "A=1", "%61=1", "=1"})
    void anythingElseIsRefusedWithWhatIsKnown(String query) {
        assertThatThrownBy(() -> new Query(query).check(KNOWN))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageMatching("in the URL: '.*' is not known; known are a, b");
    }

    @Test
    void aLongNameIsCut() {
        String longest = "x".repeat(Query.MAX_NAME);
        assertThatThrownBy(() -> new Query(longest + "=1").check(KNOWN)).hasMessageContaining("'" + longest + "'");
        assertThatThrownBy(() -> new Query(longest + "y=1").check(KNOWN)).hasMessageContaining("'" + longest + "…'");
    }

    @Test
    void aNameWithoutAValueIsRefused() {
        assertThatThrownBy(() -> new Query("a&b=1").check(KNOWN))
                .isInstanceOf(InvalidArgument.class)
                .hasMessage("in the URL: 'a' must have a value, as in a=…");
    }
}
