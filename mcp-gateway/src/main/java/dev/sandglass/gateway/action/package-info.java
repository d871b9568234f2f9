/**
 * The use cases of the gateway: start, stop, run, read on, interrupt, reset, files, list, metrics. They take values and
 * return facts, as records: no text for a model, no JSON, no MCP, so that every contract renders the same use case in its
 * own words. How long a caller waits is an argument, too.
 *
 * <p>The caller's rights are checked where its words are read, in the contract: only
 * {@link dev.sandglass.gateway.caller.TenantAccess} turns names into a {@code SandboxRef} or a {@code Tenant}, and a use
 * case takes nothing else.
 */
@NullMarked
package dev.sandglass.gateway.action;

import org.jspecify.annotations.NullMarked;
