package dev.sandglass.api.egress;

import java.util.Arrays;

/** Whom a sandbox asks for, in canonical form. */
public sealed interface Host {

    /** By name, which is looked up only once it is allowed. */
    record Name(HostName name) implements Host {
        @Override
        public String toString() {
            return name.value();
        }
    }

    /** By address, which only an entry for addresses allows. */
    record Literal(IpAddress address) implements Host {
        @Override
        public String toString() {
            return address.isSix() ? "[" + address + "]" : address.toString();
        }
    }

    /**
     * Reads a host as it stands in a URL, with IPv6 in brackets.
     *
     * @throws IllegalArgumentException saying how a host is written
     */
    static Host parse(String text) {
        if (text.startsWith("[") && text.endsWith("]")) {
            IpAddress address = IpAddress.parse(text.substring(1, text.length() - 1));
            if (!address.isSix()) {
                throw new IllegalArgumentException(Texts.shown(text) + " is not an IPv6 address in brackets");
            }
            return new Literal(address);
        }
        // Checked first: Unicode has letters whose lower case is ASCII.
        if (Texts.isAscii(text) && isFourNumbers(text)) {
            return new Literal(IpAddress.parse(text));
        }
        return new Name(HostName.parse(text));
    }

    private static boolean isFourNumbers(String text) {
        String[] parts = text.split("\\.", -1);
        return parts.length == 4 && Arrays.stream(parts).allMatch(Texts::isDigits);
    }
}
