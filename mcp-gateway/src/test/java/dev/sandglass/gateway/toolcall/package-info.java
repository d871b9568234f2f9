/** Tests of calls of shared MCP servers. */
@NullMarked
package dev.sandglass.gateway.toolcall;

import org.jspecify.annotations.NullMarked;
