/** Each wall, by code that tries to get through it, beside a control that gets through where the wall is not. */
@NullMarked
package dev.sandglass.e2e.attack;

import org.jspecify.annotations.NullMarked;
