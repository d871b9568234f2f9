/**
 * The tools that callers use: what each takes, does and answers. Knows neither JSON-RPC nor HTTP, so that the same tools
 * can stand behind other endpoints.
 */
@NullMarked
package dev.sandglass.gateway.tool;

import org.jspecify.annotations.NullMarked;
