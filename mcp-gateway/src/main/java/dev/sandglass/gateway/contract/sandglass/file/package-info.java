/** Our tools for the files of a sandbox. */
@NullMarked
package dev.sandglass.gateway.contract.sandglass.file;

import org.jspecify.annotations.NullMarked;
