/** What the operator writes to the API server, and what it must read for a write. Each write can be repeated. */
@NullMarked
package dev.sandglass.operator.write;

import org.jspecify.annotations.NullMarked;
