package dev.sandglass.operator.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.javaoperatorsdk.operator.api.reconciler.Constants;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TenantNamespacesTest {

    private static final TenantNamespaces NAMED = new TenantNamespaces(Set.of("a"), false, "own");
    private static final TenantNamespaces LABELLED = new TenantNamespaces(Set.of("a"), true, "own");

    @Test
    void withoutLabelsOnlyWhatIsNamedIsWatchedAndOurs() {
        assertThat(NAMED.watched()).containsExactly("a");
        assertThat(NAMED.has("a", any -> false)).isTrue();
        assertThat(NAMED.has("b", any -> true)).isFalse();
    }

    @Test
    void withLabelsEverythingIsWatchedAndWhatIsNamedOrLabelledIsOurs() {
        assertThat(LABELLED.watched()).isEqualTo(Constants.WATCH_ALL_NAMESPACE_SET);
        assertThat(LABELLED.has("a", any -> false)).isTrue();
        assertThat(LABELLED.has("b", "b"::equals)).isTrue();
        assertThat(LABELLED.has("c", "b"::equals)).isFalse();
    }

    @Test
    void ourOwnNamespaceIsNobodysWhateverLabelItCarries() {
        assertThat(LABELLED.has("own", any -> true)).isFalse();
    }
}
