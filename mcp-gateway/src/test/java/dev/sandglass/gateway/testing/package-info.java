/** What the tests of several rooms use: a gateway on a real port, and stand-ins for the cluster and for supervisors. */
@NullMarked
package dev.sandglass.gateway.testing;

import org.jspecify.annotations.NullMarked;
