/** The endpoint {@code /mcp/ipybox}: one IPython kernel, with the tools of ipybox (contracts.md I8 to I14). */
@NullMarked
package dev.sandglass.gateway.contract.dropin.ipybox;

import org.jspecify.annotations.NullMarked;
