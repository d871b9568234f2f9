package dev.sandglass.operator.install;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The install job's settings, from the chart.
 *
 * @param namespace where the secrets go ({@code INSTALL_NAMESPACE})
 * @param linkSecret name of the link secret ({@code INSTALL_LINK_SECRET}); empty when an existing one is used
 * @param egressSecret name of the egress secret ({@code INSTALL_EGRESS_SECRET}); empty when an existing one is used or
 *     there is no egress proxy
 * @param apiKeySecret name of the Secret of hashed API keys ({@code INSTALL_API_KEY_SECRET}); empty when an existing one
 *     is used
 * @param firstKeySecret name of the Secret with the first key in plain, for the administrator to read
 *     ({@code INSTALL_FIRST_KEY_SECRET})
 * @param tenants the tenants that the first key may use ({@code INSTALL_API_KEY_TENANTS}, separated by commas)
 */
record InstallSettings(
        String namespace,
        Optional<String> linkSecret,
        Optional<String> egressSecret,
        Optional<String> apiKeySecret,
        String firstKeySecret,
        List<String> tenants) {

    static InstallSettings from(Map<String, String> environment) {
        return new InstallSettings(
                required(environment, "INSTALL_NAMESPACE"),
                optional(environment, "INSTALL_LINK_SECRET"),
                optional(environment, "INSTALL_EGRESS_SECRET"),
                optional(environment, "INSTALL_API_KEY_SECRET"),
                optional(environment, "INSTALL_FIRST_KEY_SECRET").orElse("sandglass-first-api-key"),
                Arrays.stream(optional(environment, "INSTALL_API_KEY_TENANTS")
                                .orElse("default")
                                .split(","))
                        .map(String::strip)
                        .filter(tenant -> !tenant.isEmpty())
                        .toList());
    }

    private static Optional<String> optional(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(value -> !value.isBlank());
    }

    private static String required(Map<String, String> environment, String name) {
        return optional(environment, name)
                .orElseThrow(() -> new IllegalArgumentException("the environment variable " + name + " is not set"));
    }
}
