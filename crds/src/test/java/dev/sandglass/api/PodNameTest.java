package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose pod it is, as its name says. */
class PodNameTest {

    private static final String ID = "b1d5f2c0-6a53-4f0e-9f6d-0c9a7be21d44";

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 12, 999_999_999})
    void whatIsWrittenIsReadAgain(int incarnation) {
        PodName name = new PodName(ID, incarnation);
        assertThat(name.text()).isEqualTo("sbx-" + ID + "-" + incarnation);
        assertThat(PodName.parse(name.text())).hasValue(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "sbx-",
                "sbx-" + ID,
                "sbx-" + ID + "-",
                "sbx-" + ID + "-01",
                "sbx-" + ID + "-00",
                "sbx-" + ID + "--1",
                "sbx-" + ID + "-+1",
                "sbx-" + ID + "-1 ",
                " sbx-" + ID + "-1",
                "sbx-" + ID + "-1\n",
                "sbx-" + ID + "-1-1",
                "sbx-" + ID + "-1.0",
                "sbx-" + ID + "-١",
                "sbx-" + ID + "-1000000000",
                "sbx-" + ID + "-4294967297",
                "sbx-x" + ID + "-1",
                "sbx-" + ID + "0-1",
                "sbx-B1D5F2C0-6A53-4F0E-9F6D-0C9A7BE21D44-1",
                "sbx-b1d5f2c06a534f0e9f6d0c9a7be21d44-1",
                "sbx-one-1",
                "SBX-" + ID + "-1",
                "pod-" + ID + "-1"
            })
    void anyOtherNameSaysNothing(String name) {
        assertThat(PodName.parse(name)).isEmpty();
    }

    @Test
    void aVeryLongNameSaysNothingEither() {
        assertThat(PodName.parse("sbx-" + ID.repeat(10_000) + "-1")).isEmpty();
    }
}
