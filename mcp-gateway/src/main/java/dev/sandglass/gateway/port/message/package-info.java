/**
 * Requests to ports of sandboxes and their answers, as they are changed on the way: paths, headers, cookies, redirections,
 * and what is refused. Pure, but for the connection that a request goes by.
 */
@NullMarked
package dev.sandglass.gateway.port.message;

import org.jspecify.annotations.NullMarked;
