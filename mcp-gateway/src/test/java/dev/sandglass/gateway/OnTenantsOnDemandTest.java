package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/** Else a refusal promises callers a start that makes what none ever makes. */
class OnTenantsOnDemandTest {

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withUserConfiguration(Making.class);

    @Configuration(proxyBeanMethods = false)
    static class Making {

        @Bean
        @Conditional(OnTenantsOnDemand.class)
        Object maker() {
            return new Object();
        }
    }

    @ParameterizedTest
    @CsvSource({"0, false", "00, false", "1, true", "20, true"})
    void onlyMoreThanNoneCounts(String value, boolean made) {
        application
                .withPropertyValues("gateway.tenants-on-demand=" + value)
                .run(context -> assertThat(context.containsBean("maker")).isEqualTo(made));
    }

    @Test
    void withoutAValueThereAreNone() {
        application.run(context -> assertThat(context).doesNotHaveBean("maker"));
    }
}
