/** Adoption: links to sandboxes in which code runs while the replica that followed it is gone. */
@NullMarked
package dev.sandglass.gateway.adoption;

import org.jspecify.annotations.NullMarked;
