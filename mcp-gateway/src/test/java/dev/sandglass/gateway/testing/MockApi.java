package dev.sandglass.gateway.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.util.HashMap;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A mock of the API server, over plain HTTP, that keeps what is written to it, with a client of it. As a field with
 * {@code @RegisterExtension} each test has one of its own, which ends after the test's own methods.
 */
public final class MockApi implements AfterEachCallback {

    private final KubernetesMockServer server;
    private final KubernetesClient client;

    /** Listens at once. */
    public MockApi() {
        this(new KubernetesCrudDispatcher());
    }

    /**
     * Listens at once.
     *
     * @param manner of answering
     */
    public MockApi(KubernetesCrudDispatcher manner) {
        server = new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(), manner, false);
        server.init();
        client = server.createClient();
    }

    /** Closed with the server. */
    public KubernetesClient client() {
        return client;
    }

    /** Where it listens. */
    public String url() {
        return client.getConfiguration().getMasterUrl();
    }

    /** Answers nobody from now on. */
    public void goAway() {
        server.shutdown();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        client.close();
        server.destroy();
    }
}
