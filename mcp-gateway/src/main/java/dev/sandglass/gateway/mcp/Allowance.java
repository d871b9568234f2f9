package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.quota.ByteBudget;

/**
 * What one request may hold of the budget of its caller and of the replica.
 *
 * @param budget of all requests
 * @param share of this one
 */
record Allowance(ByteBudget budget, ByteBudget.Share share) {

    /** Takes so many bytes, or throws {@link McpError} with what to do. */
    void take(long bytes) {
        switch (share.take(bytes)) {
            case YES -> {}
            case NO_ROOM_OF_OWNER -> throw McpError.busy("requests of this API key hold", budget.mostOfOne());
            case NO_ROOM -> throw McpError.busy("the requests of all callers hold", budget.most());
        }
    }
}
