package dev.sandglass.api.egress;

import java.util.Locale;
import java.util.OptionalInt;

/**
 * An entry of {@code allowedDomains}: a name, {@code *.name}, an address or a range of addresses, each with a port or
 * without; or {@code *}, which opens everything.
 */
public sealed interface DomainRule {

    /** Longest text of an entry: {@code *.}, a name with a dot at its end, a colon and a port. */
    int MAX_LENGTH = 2 + Target.MAX_LENGTH;

    /** Port of plain HTTP, allowed if an entry names no port. */
    int HTTP = 80;

    /** Port of HTTPS, allowed if an entry names no port. */
    int HTTPS = 443;

    /** Bits of the widest range of IPv4 that is less than open. */
    int WIDEST_FOUR = 8;

    /** Bits of the widest range of IPv6 that is less than open: few holders have more than /20. */
    int WIDEST_SIX = 20;

    /** By so many bits the smallest range that counts is narrower than the widest that is less than open. */
    int SMALLEST_PART = 24;

    /** Whether it is about that host, on whatever port. */
    boolean covers(Host host);

    /** Whether it allows that port. */
    boolean permits(int port);

    /**
     * Whether it allows so much of what is public that only an installation that permits {@code *} takes it: {@code *}
     * itself, and ranges wider than the widest that are handed out to one holder (/8 of IPv4, /20 of IPv6 to be generous).
     */
    default boolean isOpen() {
        return false;
    }

    /** That name and no other. */
    record Exact(HostName name, OptionalInt port) implements DomainRule {
        @Override
        public boolean covers(Host host) {
            return host instanceof Host.Name asked && asked.name().equals(name);
        }

        @Override
        public boolean permits(int asked) {
            return allows(port, asked);
        }

        @Override
        public String toString() {
            return name + suffix(port);
        }
    }

    /** Every name below another one, by one label or more; not that one itself. */
    record Wildcard(HostName parent, OptionalInt port) implements DomainRule {
        @Override
        public boolean covers(Host host) {
            return host instanceof Host.Name asked && asked.name().value().endsWith("." + parent);
        }

        @Override
        public boolean permits(int asked) {
            return allows(port, asked);
        }

        @Override
        public String toString() {
            return "*." + parent + suffix(port);
        }
    }

    /** Addresses, asked for as such; a name that leads to one of them is not covered. */
    record Addresses(IpRange range, OptionalInt port) implements DomainRule {
        @Override
        public boolean covers(Host host) {
            return host instanceof Host.Literal asked && range.contains(asked.address());
        }

        @Override
        public boolean permits(int asked) {
            return allows(port, asked);
        }

        @Override
        public boolean isOpen() {
            return share() > 1;
        }

        /** Whether it is IPv4 that it opens, as such or within addresses of IPv6. */
        boolean opensFour() {
            return !range.first().isSix() || Embedded.meets(range);
        }

        /** How much it has of the widest range that is less than open; 0 if nothing of it is public. */
        double share() {
            if (Embedded.meets(range)) {
                return Math.scalb(1.0, WIDEST_FOUR - Math.max(0, Embedded.commonBits(range)));
            }
            int widest = range.first().isSix() ? WIDEST_SIX : WIDEST_FOUR;
            // A smaller one would be lost beside the widest; the admission policy counts in the same parts.
            int narrower = Math.min(range.prefix() - widest, SMALLEST_PART);
            return DeniedRanges.meetsPublic(range) ? Math.scalb(1.0, -narrower) : 0;
        }

        @Override
        public String toString() {
            return range.first().isSix() && port.isPresent() ? "[" + range + "]" + suffix(port) : range + suffix(port);
        }
    }

    /** Every name, every public address, every port; only if the installation permits it. */
    record Open() implements DomainRule {
        @Override
        public boolean covers(Host host) {
            return true;
        }

        @Override
        public boolean permits(int port) {
            return true;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public String toString() {
            return "*";
        }
    }

    /**
     * Reads an entry. IPv6 with a port stands in brackets: {@code [2001:db8::/32]:443}.
     *
     * @throws IllegalArgumentException with a sentence that repeats the entry and says how one is written
     */
    static DomainRule parse(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(Texts.shown(text) + " is longer than " + MAX_LENGTH + " characters");
        }
        if (text.equals("*")) {
            return new Open();
        }
        if (isUrl(text)) {
            throw new IllegalArgumentException(
                    Texts.shown(text) + " is a URL; write only its host, and a port if it is neither 80 nor 443");
        }
        int bracket = text.lastIndexOf(']');
        boolean bareSix = bracket < 0 && text.indexOf(':') != text.lastIndexOf(':');
        int colon = bareSix ? -1 : text.indexOf(':', Math.max(0, bracket));
        OptionalInt port = colon < 0 ? OptionalInt.empty() : OptionalInt.of(Target.port(text.substring(colon + 1)));
        return of(colon < 0 ? text : text.substring(0, colon), port);
    }

    /** A scheme, or a path behind a name or a port: what a slash follows in a range is an address alone. */
    private static boolean isUrl(String text) {
        int slash = text.indexOf('/');
        if (slash < 0 || text.contains("://")) {
            return slash >= 0;
        }
        String before = text.substring(0, slash).toLowerCase(Locale.ROOT);
        int colon = before.indexOf(':');
        return colon < 0
                ? !before.startsWith("[") && !HostName.looksLikeAddress(before)
                : Texts.isDigits(before.substring(colon + 1));
    }

    private static DomainRule of(String host, OptionalInt port) {
        if (host.startsWith("[") && host.endsWith("]")) {
            IpRange range = IpRange.parse(host.substring(1, host.length() - 1));
            if (!range.first().isSix()) {
                throw new IllegalArgumentException(Texts.shown(host) + ": only IPv6 stands in brackets");
            }
            return new Addresses(range, port);
        }
        if (host.indexOf('/') >= 0 || host.indexOf(':') >= 0) {
            return new Addresses(IpRange.parse(host), port);
        }
        if (host.startsWith("*.")) {
            return wildcard(HostName.parse(host.substring(2)), port);
        }
        if (host.indexOf('*') >= 0) {
            throw new IllegalArgumentException(Texts.shown(host)
                    + ": a * stands only for whole labels at the beginning, as in *.example.com, or alone");
        }
        if (HostName.looksLikeAddress(host.toLowerCase(Locale.ROOT))) {
            return new Addresses(IpRange.only(IpAddress.parse(host)), port);
        }
        return new Exact(HostName.parse(host), port);
    }

    private static DomainRule wildcard(HostName parent, OptionalInt port) {
        if (RegistrySuffix.is(parent)) {
            throw new IllegalArgumentException("'*." + parent
                    + "' would allow names of everybody who registers one below " + parent + "; name the domain too");
        }
        return new Wildcard(parent, port);
    }

    private static boolean allows(OptionalInt port, int asked) {
        return port.isPresent() ? port.getAsInt() == asked : asked == HTTP || asked == HTTPS;
    }

    private static String suffix(OptionalInt port) {
        return port.isPresent() ? ":" + port.getAsInt() : "";
    }
}
