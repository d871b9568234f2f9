/** Names of sandboxes and tenants: what a caller may give, and which Kubernetes name it becomes. */
@NullMarked
package dev.sandglass.api.name;

import org.jspecify.annotations.NullMarked;
