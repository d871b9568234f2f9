/** Connections of sandboxes: who asks, may it, where does it lead, connect, pass on. */
@NullMarked
package dev.sandglass.egress.proxy;

import org.jspecify.annotations.NullMarked;
