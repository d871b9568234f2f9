package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.execution.OutputListener;
import java.time.Duration;
import java.util.Optional;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request whose form was found good.
 *
 * @param id to be echoed
 * @param method not yet known to exist
 * @param params empty if there were none
 * @param era in which to answer
 * @param caller whose rights count
 * @param client where it came from and how long that waits
 * @param contract that it asks, as audit lines and metrics call it
 * @param offer of that contract
 */
record McpRequest(
        JsonNode id,
        String method,
        ObjectNode params,
        ProtocolRevision era,
        Caller caller,
        Origin client,
        String contract,
        Offer offer) {

    /**
     * What is known of the program that sent it.
     *
     * @param address it called from
     * @param patience how long it waits for an answer, as the URL says; empty if that says nothing
     * @param session of its contract, which knows it; empty if it has none
     */
    record Origin(String address, Optional<Duration> patience, Optional<String> session) {}

    /**
     * A request together with the one who listens to its progress.
     *
     * @param thread on which the answer is to be rendered
     */
    record Call(McpRequest request, OutputListener progress, Scheduler thread) {}

    /**
     * The token under which the client wants to hear of progress; it is written with each, and bounded as ids are.
     *
     * @throws McpError if it has no valid form
     */
    Optional<JsonNode> progressToken() {
        JsonNode token = params.path("_meta").path("progressToken");
        if (token.isMissingNode() || token.isNull()) {
            return Optional.empty();
        }
        if (!JsonCodec.isId(token)) {
            throw McpError.invalidParams("'_meta.progressToken' must be " + JsonCodec.FORM_OF_IDS);
        }
        return Optional.of(token);
    }
}
