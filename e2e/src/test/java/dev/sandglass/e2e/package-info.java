/** What must hold for an installed Sandglass, seen from outside: with MCP and Kubernetes clients that we did not write. */
@NullMarked
package dev.sandglass.e2e;

import org.jspecify.annotations.NullMarked;
