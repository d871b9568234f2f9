/** MCP servers in sandboxes, whose tools code calls as functions. */
@NullMarked
package dev.sandglass.e2e.toolserver;

import org.jspecify.annotations.NullMarked;
