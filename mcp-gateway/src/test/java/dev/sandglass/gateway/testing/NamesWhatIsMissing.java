package dev.sandglass.gateway.testing;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.http.MockResponse;

/** Says of what is not there what it would have been, as an API server does and the mock does not. */
public class NamesWhatIsMissing extends KubernetesCrudDispatcher {

    @Override
    public MockResponse handleGet(String path) {
        MockResponse answer = super.handleGet(path);
        return answer.code() != 404
                ? answer
                : new MockResponse()
                        .setResponseCode(404)
                        .setBody(Serialization.asJson(new StatusBuilder()
                                .withCode(404)
                                .withReason("NotFound")
                                .withMessage("sandboxes.sandglass.dev \"box\" not found")
                                .withNewDetails()
                                .withGroup("sandglass.dev")
                                .withKind("sandboxes")
                                .withName("box")
                                .endDetails()
                                .build()));
    }
}
