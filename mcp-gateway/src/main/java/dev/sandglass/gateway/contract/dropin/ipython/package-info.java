/** The endpoint {@code /mcp/ipython}: named IPython sessions, with the tools of ipython-mcp (contracts.md P2 to P18). */
@NullMarked
package dev.sandglass.gateway.contract.dropin.ipython;

import org.jspecify.annotations.NullMarked;
