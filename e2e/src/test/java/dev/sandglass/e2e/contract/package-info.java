/** What the tools promise: code, commands, files, packages, sessions and answers, row by row of the contract. */
@NullMarked
package dev.sandglass.e2e.contract;

import org.jspecify.annotations.NullMarked;
