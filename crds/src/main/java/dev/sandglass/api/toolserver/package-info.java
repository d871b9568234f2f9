/** The {@code SandboxToolServer} resource: an MCP server whose tools code in sandboxes calls as functions. */
@NullMarked
package dev.sandglass.api.toolserver;

import org.jspecify.annotations.NullMarked;
