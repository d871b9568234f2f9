/** The process of the egress proxy: its settings, its probes, and how the parts are put together. */
@NullMarked
package dev.sandglass.egress;

import org.jspecify.annotations.NullMarked;
