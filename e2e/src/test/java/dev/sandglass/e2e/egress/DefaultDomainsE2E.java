package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An installation with a list of its own, {@code egressProxy.defaultDomains}: e2e/split-dns sets it to one name that nobody
 * has, and runs this. That the name is looked up at all shows that it is allowed.
 */
@EnabledIfSystemProperty(named = "sandglass.e2e.defaultDomain", matches = ".+")
class DefaultDomainsE2E {

    private static final String HOST = System.getProperty("sandglass.e2e.defaultDomain", "");
    private static final String ALLOWED = "X-Proxy-Error: lookup-failed";
    private static final String REFUSED = "X-Proxy-Error: not-allowed";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Agent agent = SANDBOXES.agent();

    private String asked(String sandbox, String host) {
        return agent.command(sandbox, "curl", "-sS", "-D", "-", "-o", "/dev/null", "http://" + host + "/")
                .stdout();
    }

    @Test
    void aSandboxWithoutAListReachesTheInstallationsAndTheAgentIsTold() {
        String sandbox = SANDBOXES.name();
        Answer started = SANDBOXES.bringUp(sandbox);

        assertThat(started.text()).contains("By the installation's default its code may reach " + HOST);
        assertThat(asked(sandbox, HOST)).contains(ALLOWED);
        assertThat(asked(sandbox, "denied.example")).contains(REFUSED);
    }

    @Test
    void aListOfItsOwnCountsAloneTheEmptyOneToo() {
        String other = SANDBOXES.start(Map.of("allowed_domains", List.of("other." + HOST)));
        assertThat(asked(other, HOST)).contains(REFUSED);
        assertThat(asked(other, "other." + HOST)).contains(ALLOWED);

        String none = SANDBOXES.start(Map.of("allowed_domains", List.of()));
        assertThat(asked(none, HOST)).contains(REFUSED);
    }
}
