/** What the tests of several modules need. It knows none of them. */
@NullMarked
package dev.sandglass.testing;

import org.jspecify.annotations.NullMarked;
