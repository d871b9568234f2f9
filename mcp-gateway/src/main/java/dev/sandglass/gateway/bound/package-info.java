/**
 * What others can make a replica hold, and for how long: memory for what they send or do not read, and connections. Knows
 * no MCP, no sandboxes and no callers; the rooms that use it say in whose name they take.
 */
@NullMarked
package dev.sandglass.gateway.bound;

import org.jspecify.annotations.NullMarked;
