/** What the drop-in endpoints promise to users of other systems, and the table of those systems' rows. */
@NullMarked
package dev.sandglass.e2e.dropin;

import org.jspecify.annotations.NullMarked;
