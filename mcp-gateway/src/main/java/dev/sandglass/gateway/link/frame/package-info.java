/**
 * What gateway and supervisor say to each other, protocol version 1: verbs out, replies, output records and events in.
 * Records and their bytes; pure.
 */
@NullMarked
package dev.sandglass.gateway.link.frame;

import org.jspecify.annotations.NullMarked;
