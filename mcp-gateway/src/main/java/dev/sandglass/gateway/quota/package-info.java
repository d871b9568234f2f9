/** Who may make a replica hold how much memory, and until when. The rooms that use it say in whose name they take. */
@NullMarked
package dev.sandglass.gateway.quota;

import org.jspecify.annotations.NullMarked;
