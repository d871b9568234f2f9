/** The endpoint {@code /mcp/code-mode}: one tool that runs Python anew each time (contracts.md X2, X7 to X12). */
@NullMarked
package dev.sandglass.gateway.contract.dropin.codemode;

import org.jspecify.annotations.NullMarked;
