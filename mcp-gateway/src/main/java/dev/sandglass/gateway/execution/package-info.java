/** Runs of code and commands as the gateway sees them: started, followed, read again, ended with an honest status. */
@NullMarked
package dev.sandglass.gateway.execution;

import org.jspecify.annotations.NullMarked;
