/** The keys of the link between gateway and sandbox: operator and gateway derive the same ones from the link secret. */
@NullMarked
package dev.sandglass.api.link;

import org.jspecify.annotations.NullMarked;
