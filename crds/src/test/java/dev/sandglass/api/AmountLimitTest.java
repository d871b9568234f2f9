package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AmountLimitTest {

    @ParameterizedTest
    @CsvSource({
        "MEMORY, 64Mi, true",
        "MEMORY, 65535Ki, false",
        "MEMORY, 512M, true",
        "MEMORY, 1Ti, true",
        "MEMORY, 1025Gi, false",
        "MEMORY, 500m, false",
        "DISK, 10Ti, true",
        "DISK, 10T, true",
        "DISK, 11Ti, false",
        "WORKSPACE, 67108864, true",
        "WORKSPACE, 67108863, false",
        "CPUS, 50m, true",
        "CPUS, 0.05, true",
        "CPUS, 49m, false",
        "CPUS, 256, true",
        "CPUS, 1k, false",
    })
    void theBoundsAreWithin(AmountLimit limit, String quantity, boolean admitted) {
        assertThat(limit.admits(quantity)).isEqualTo(admitted);
    }
}
