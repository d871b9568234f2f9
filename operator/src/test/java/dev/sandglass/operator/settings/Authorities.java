package dev.sandglass.operator.settings;

import java.util.List;

/** Authorities for tests that ask where they are found and not which they are. */
public final class Authorities {

    private Authorities() {}

    /** Some of an installation's own, with no certificate among them. */
    public static TrustedAuthorities empty() {
        return TrustedAuthorities.of(List.of(), List.of());
    }
}
