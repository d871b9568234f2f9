/** The endpoint as clients meet it: revisions of the protocol, media types, keys, and requests that are refused. */
@NullMarked
package dev.sandglass.gateway.mcp.protocol;

import org.jspecify.annotations.NullMarked;
