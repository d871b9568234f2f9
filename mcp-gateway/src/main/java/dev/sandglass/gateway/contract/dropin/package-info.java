/**
 * What the drop-in endpoints share: each has tools, arguments and words of another server, so that its users change a URL
 * and nothing else. Here is which sandbox a call means, what a client's session is, and how problems are worded without
 * the name of any tool.
 */
@NullMarked
package dev.sandglass.gateway.contract.dropin;

import org.jspecify.annotations.NullMarked;
