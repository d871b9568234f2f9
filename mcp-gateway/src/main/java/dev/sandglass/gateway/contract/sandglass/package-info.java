/** Our own contract, served at {@code /mcp}: which tools it has, and in which order clients see them. */
@NullMarked
package dev.sandglass.gateway.contract.sandglass;

import org.jspecify.annotations.NullMarked;
