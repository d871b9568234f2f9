package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.NextStep;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StepsTest {

    static Stream<NextStep> all() {
        return Stream.concat(
                Arrays.stream(NextStep.Plain.values()),
                Stream.concat(
                        Arrays.stream(NextStep.RunCommand.Purpose.values())
                                .map(purpose -> new NextStep.RunCommand(purpose, "pip install x")),
                        Stream.of(
                                new NextStep.AllowHosts(List.of()),
                                new NextStep.FreeCapacity("default", 0, List.of()))));
    }

    @ParameterizedTest
    @MethodSource("all")
    void noStepNamesATool(NextStep step) {
        String told = new Steps(_ -> Optional.empty()).told("It failed.", step);
        assertThat(told).startsWith("It failed.").doesNotContain("sandbox_").doesNotContain(" ;");
        assertThat(told).endsWith(".");
    }

    @ParameterizedTest
    @MethodSource("all")
    void anEndpointHasItsOwnWords(NextStep step) {
        assertThat(new Steps(_ -> Optional.of("Do that.")).told("It failed", step))
                .isEqualTo("It failed. Do that.");
    }
}
