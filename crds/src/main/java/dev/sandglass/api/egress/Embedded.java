package dev.sandglass.api.egress;

import java.util.List;

/** IPv4 addresses within IPv6 addresses, by which a packet may be sent on to the former. */
final class Embedded {

    static final String NAT64 = "NAT64";
    static final String TEREDO = "Teredo";
    static final String SIX_TO_FOUR = "6to4";

    private static final IpRange NAT64_PREFIX = IpRange.parse("64:ff9b::/96");
    private static final IpRange NAT64_LOCAL = IpRange.parse("64:ff9b:1::/48");
    private static final IpRange TEREDO_PREFIX = IpRange.parse("2001::/32");
    private static final IpRange SIX_TO_FOUR_PREFIX = IpRange.parse("2002::/16");
    private static final IpRange COMPATIBLE = IpRange.parse("::/96");

    private static final List<IpRange> FORMS =
            List.of(NAT64_PREFIX, NAT64_LOCAL, TEREDO_PREFIX, SIX_TO_FOUR_PREFIX, COMPATIBLE);

    private Embedded() {}

    /** Whether all addresses of a range are of such a form. */
    static boolean embeds(IpRange range) {
        return FORMS.stream().anyMatch(form -> form.contains(range));
    }

    /** Whether an address of a range is of such a form. */
    static boolean meets(IpRange range) {
        return embeds(range) || FORMS.stream().anyMatch(range::contains);
    }

    /**
     * How many bits the IPv4 addresses in a range have in common, if it {@linkplain #meets meets} such a form; 0 or less
     * if these are all there are.
     */
    static int commonBits(IpRange range) {
        int before = SIX_TO_FOUR_PREFIX.contains(range) ? SIX_TO_FOUR_PREFIX.prefix() : NAT64_PREFIX.prefix();
        return range.prefix() - before;
    }

    /** The IPv4 addresses in an address; none if it is of no such form. */
    static List<IpAddress> in(IpAddress address) {
        if (NAT64_PREFIX.contains(address) || NAT64_LOCAL.contains(address) || COMPATIBLE.contains(address)) {
            return List.of(IpAddress.ofFour(address.low()));
        }
        if (SIX_TO_FOUR_PREFIX.contains(address)) {
            return List.of(IpAddress.ofFour(address.high() >>> 16));
        }
        // The relay's address stands as it is, the client's with all bits turned.
        return TEREDO_PREFIX.contains(address)
                ? List.of(IpAddress.ofFour(address.high()), IpAddress.ofFour(~address.low()))
                : List.of();
    }
}
