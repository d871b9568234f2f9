package dev.sandglass.operator.pod;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What derives from a pod's id and incarnation. */
class PodSubjectTest {

    private static final String ID = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";
    private static final LinkSecret SECRET = new LinkSecret(new byte[32]);

    @Test
    void theNameHasIdAndIncarnation() {
        assertThat(new PodSubject(ID, 12).name()).isEqualTo("sbx-" + ID + "-12");
    }

    @Test
    void theKeysAreThoseThatAGatewayDerivesFromTheSameTwo() {
        assertThat(new PodSubject(ID, 12).linkKeys(SECRET)).isEqualTo(LinkKeys.derive(SECRET, ID, 12));
    }

    /** The rule of {@link LinkKeys}: an id with the separator would have the keys of another one, and numbers begin with a seat's 0. */
    @ParameterizedTest
    @CsvSource({"'', 1", "a|b, 1", "a, -1"})
    void aSubjectThatIsNoPodsHasNoKeys(String id, int incarnation) {
        assertThatThrownBy(() -> new PodSubject(id, incarnation).linkKeys(SECRET))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
