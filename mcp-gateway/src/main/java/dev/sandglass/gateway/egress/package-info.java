/** What sandboxes did not reach through the egress proxy, heard from its replicas and kept until an answer tells it. */
@NullMarked
package dev.sandglass.gateway.egress;

import org.jspecify.annotations.NullMarked;
