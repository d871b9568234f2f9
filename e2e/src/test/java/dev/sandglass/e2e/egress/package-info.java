/** What code reaches on the network, by which clients, and what it does not. */
@NullMarked
package dev.sandglass.e2e.egress;

import org.jspecify.annotations.NullMarked;
