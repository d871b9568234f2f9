/** The agent, the tenant, the installation and the node, as the tests of all rooms use them. */
@NullMarked
package dev.sandglass.e2e.support;

import org.jspecify.annotations.NullMarked;
