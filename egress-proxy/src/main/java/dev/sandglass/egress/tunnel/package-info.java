/** The proxy itself: connections of sandboxes, the verdict on each, and the bytes that go through. */
@NullMarked
package dev.sandglass.egress.tunnel;

import org.jspecify.annotations.NullMarked;
