/** Files of sandboxes as resources with URIs, and the completion of what a person types for them and for prompts. */
@NullMarked
package dev.sandglass.gateway.contract.sandglass.resource;

import org.jspecify.annotations.NullMarked;
