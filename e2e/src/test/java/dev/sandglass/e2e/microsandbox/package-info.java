/** What users of microsandbox's server rely on, as far as it is no single call (contract-rows-m.yaml has those). */
@NullMarked
package dev.sandglass.e2e.microsandbox;

import org.jspecify.annotations.NullMarked;
