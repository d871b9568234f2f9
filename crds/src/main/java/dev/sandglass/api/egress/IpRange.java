package dev.sandglass.api.egress;

/**
 * Addresses that begin with the same bits.
 *
 * @param first the lowest of them; its other bits are 0
 * @param prefix how many bits are the same
 */
public record IpRange(IpAddress first, int prefix) {

    /**
     * Takes a range.
     *
     * @throws IllegalArgumentException if the prefix is out of bounds, or the first address has bits beyond it
     */
    public IpRange {
        if (prefix < 0 || prefix > first.bits()) {
            throw new IllegalArgumentException("the prefix of " + first + " must be from 0 to " + first.bits());
        }
        IpAddress lowest = masked(first, prefix);
        if (!lowest.equals(first)) {
            throw new IllegalArgumentException(
                    first + "/" + prefix + " has bits beyond its prefix; write " + lowest + "/" + prefix);
        }
    }

    /** The one address alone. */
    public static IpRange only(IpAddress address) {
        return new IpRange(address, address.bits());
    }

    /**
     * Reads {@code address/prefix}, or an address alone.
     *
     * @throws IllegalArgumentException saying how a range is written
     */
    public static IpRange parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            return only(IpAddress.parse(text));
        }
        IpAddress address = IpAddress.parse(text.substring(0, slash));
        int prefix = Texts.number(text.substring(slash + 1), address.bits());
        if (prefix < 0) {
            throw new IllegalArgumentException(Texts.shown(text)
                    + " is not a range: the number after the slash must be from 0 to " + address.bits());
        }
        return new IpRange(address, prefix);
    }

    /** Whether an address lies in it. */
    public boolean contains(IpAddress address) {
        return address.bits() == first.bits() && masked(address, prefix).equals(first);
    }

    /** Whether a whole range lies in it. */
    public boolean contains(IpRange other) {
        return other.prefix >= prefix && contains(other.first);
    }

    private static IpAddress masked(IpAddress address, int prefix) {
        int free = address.bits() - prefix;
        long low = free >= 64 ? 0 : address.low() & -1L << free;
        long high = free <= 64 ? address.high() : free == 128 ? 0 : address.high() & -1L << (free - 64);
        return new IpAddress(address.bits(), high, low);
    }

    @Override
    public String toString() {
        return prefix == first.bits() ? first.toString() : first + "/" + prefix;
    }
}
