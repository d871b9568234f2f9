/** Our tools that run code, commands and installers in a sandbox, read their output and end them. */
@NullMarked
package dev.sandglass.gateway.contract.sandglass.run;

import org.jspecify.annotations.NullMarked;
