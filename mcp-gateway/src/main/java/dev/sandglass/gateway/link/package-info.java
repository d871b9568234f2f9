/**
 * One encrypted connection per sandbox: which to keep, dial and give up, who waits for which answer, and how fast output
 * is read. Knows the wire and nothing of what the gateway is for.
 */
@NullMarked
package dev.sandglass.gateway.link;

import org.jspecify.annotations.NullMarked;
