/** Files of sandboxes: read, written, listed and managed over the link, in pages, a few at a time. */
@NullMarked
package dev.sandglass.gateway.file;

import org.jspecify.annotations.NullMarked;
