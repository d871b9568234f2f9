/** Who calls, and which tenants' sandboxes that caller may use. Knows neither tools nor the way to a sandbox. */
@NullMarked
package dev.sandglass.gateway.caller;

import org.jspecify.annotations.NullMarked;
