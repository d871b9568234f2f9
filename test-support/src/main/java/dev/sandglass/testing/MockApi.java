package dev.sandglass.testing;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.CustomResourceAware;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.ServerRequest;
import io.fabric8.mockwebserver.ServerResponse;
import io.fabric8.mockwebserver.http.Dispatcher;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A mock of the API server, over plain HTTP, that keeps what is written to it, with a client of it. As a field with
 * {@code @RegisterExtension} each test has one of its own, which ends after the test's own methods. Whoever watches should
 * have it rather than {@code @EnableKubernetesMockClient}, for the sake of {@link UnblockedWatches}.
 */
public final class MockApi implements AfterEachCallback {

    private final KubernetesMockServer server;
    private final KubernetesClient client;

    /** Listens at once, and answers what it is told to expect, or else from what it keeps. */
    public MockApi() {
        this(new HashMap<>());
    }

    private MockApi(Map<ServerRequest, Queue<ServerResponse>> expected) {
        this(expected, new KubernetesMixedDispatcher(expected));
    }

    /**
     * Listens at once.
     *
     * @param manner of answering
     */
    public <D extends Dispatcher & CustomResourceAware> MockApi(D manner) {
        this(new HashMap<>(), manner);
    }

    private <D extends Dispatcher & CustomResourceAware> MockApi(
            Map<ServerRequest, Queue<ServerResponse>> expected, D manner) {
        server = new KubernetesMockServer(
                new Context(), new MockWebServer(), expected, new UnblockedWatches<>(manner), false);
        server.init();
        client = server.createClient();
    }

    /** Closed with the server. */
    public KubernetesClient client() {
        return client;
    }

    /** To tell it what to expect. */
    public KubernetesMockServer server() {
        return server;
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
