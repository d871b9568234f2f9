/**
 * The way in for programs that know no proxy: DNS that answers allowed names with the proxy's own address, and the ports
 * behind it.
 */
@NullMarked
package dev.sandglass.egress.splitdns;

import org.jspecify.annotations.NullMarked;
