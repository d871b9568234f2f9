/**
 * One encrypted ZeroMQ connection per sandbox: verbs out, output records in, in bytes and in order. Knows the wire and
 * nothing of what the gateway is for.
 */
@NullMarked
package dev.sandglass.gateway.link;

import org.jspecify.annotations.NullMarked;
