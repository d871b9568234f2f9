/** What the installation says about its pods, their identity and their network, and the rules by which it is asked. */
@NullMarked
package dev.sandglass.operator.settings;

import org.jspecify.annotations.NullMarked;
