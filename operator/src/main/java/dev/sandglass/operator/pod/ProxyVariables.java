package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.List;
import java.util.stream.Stream;

/**
 * The environment variables by which programs find the egress proxy. Those with the credential come from the pod's
 * Secret, so that a user who may only read pods does not learn it. All are reserved ({@link dev.sandglass.api.EnvRules}): they
 * are no wall, but a sandbox whose variables lead elsewhere would only fail in ways that are hard to read.
 */
final class ProxyVariables {

    /** The pod's address, under which servers announce themselves, for the values below; the supervisor keeps it. */
    private static final String OWN_ADDRESS = "SANDGLASS_POD_ADDRESS";

    /**
     * What never goes through the proxy: the names by which code calls a server of its own. With brackets around an IPv6
     * address, as some would have it, Python's httpx fails for every host.
     */
    private static final String DIRECT =
            "localhost,127.0.0.1,127.0.1.1,::1,0.0.0.0,$(" + OWN_ADDRESS + ")," + PodShape.HOSTNAME;

    /** Upper and lower case, since each half of the programs reads the other one. */
    private static final List<String> WITH_CREDENTIAL = List.of(
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "PIP_PROXY",
            "npm_config_proxy",
            "npm_config_https_proxy");

    private ProxyVariables() {}

    /**
     * The variables.
     *
     * @param secret name of the Secret that has the proxy's URL
     */
    static List<EnvVar> of(String secret) {
        return Stream.concat(
                        WITH_CREDENTIAL.stream().map(name -> fromSecret(name, secret)),
                        // Before those that refer to it.
                        Stream.of(
                                ownAddress(),
                                plain("NO_PROXY", DIRECT),
                                plain("no_proxy", DIRECT),
                                plain("NODE_USE_ENV_PROXY", "1")))
                .toList();
    }

    /** Java reads no proxy from its environment, and takes no credential this way: the source address has to do. */
    static List<String> javaOptions(String proxy) {
        return List.of(
                "-Dhttp.proxyHost=" + proxy,
                "-Dhttp.proxyPort=" + SandboxLabels.EGRESS_PORT,
                "-Dhttps.proxyHost=" + proxy,
                "-Dhttps.proxyPort=" + SandboxLabels.EGRESS_PORT,
                // What Java itself would leave out, and its own address and name.
                "-Dhttp.nonProxyHosts=localhost|127.*|[::1]|0.0.0.0|[::0]|$(" + OWN_ADDRESS + ")|" + PodShape.HOSTNAME);
    }

    private static EnvVar plain(String name, String value) {
        return new EnvVarBuilder().withName(name).withValue(value).build();
    }

    private static EnvVar ownAddress() {
        return new EnvVarBuilder()
                .withName(OWN_ADDRESS)
                .withNewValueFrom()
                .withNewFieldRef()
                .withApiVersion("v1")
                .withFieldPath("status.podIP")
                .endFieldRef()
                .endValueFrom()
                .build();
    }

    private static EnvVar fromSecret(String name, String secret) {
        return new EnvVarBuilder()
                .withName(name)
                .withNewValueFrom()
                .withNewSecretKeyRef()
                .withName(secret)
                .withKey(PodSecret.PROXY_URL)
                // An operator of before, without a proxy, may have made the Secret and died: better no way out than no
                // pod.
                .withOptional(true)
                .endSecretKeyRef()
                .endValueFrom()
                .build();
    }
}
