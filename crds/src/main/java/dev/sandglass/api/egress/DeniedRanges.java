package dev.sandglass.api.egress;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Addresses that no sandbox reaches, whatever its list says and whatever a name resolves to: everything that is not public,
 * the metadata services of clouds, the cluster's own ranges. The installation may allow parts of them: an allowance lifts a
 * denied range if it lies within that range, so that {@code 10.0.0.0/8} opens neither a cluster's {@code 10.244.0.0/16} nor
 * anything public.
 */
public final class DeniedRanges {

    /**
     * A range and what it is.
     *
     * @param range the addresses
     * @param name for messages, such as {@code private}
     */
    public record Named(IpRange range, String name) {}

    private static final String PRIVATE = "private";
    private static final String LOOPBACK = "loopback";
    private static final String LINK_LOCAL = "link-local";
    private static final String METADATA = "a cloud's metadata service";
    private static final String DOCUMENTATION = "documentation";
    private static final String RESERVED = "reserved";
    private static final String MULTICAST = "multicast";
    private static final String CLUSTER = "the cluster's own";

    private static final IpRange GLOBAL_UNICAST = IpRange.parse("2000::/3");

    /** Where global unicast begins and ends. */
    private static final List<IpRange> PARTS_OF_SIX =
            List.of(GLOBAL_UNICAST, IpRange.parse("::/3"), IpRange.parse("4000::/2"), IpRange.parse("8000::/1"));

    private static final List<Named> FOUR = List.of(
            named("0.0.0.0/8", "this network"),
            named("10.0.0.0/8", PRIVATE),
            named("100.64.0.0/10", "carrier-grade NAT"),
            named("100.100.100.200", METADATA),
            named("127.0.0.0/8", LOOPBACK),
            named("168.63.129.16", METADATA),
            named("169.254.0.0/16", LINK_LOCAL),
            named("169.254.169.254", METADATA),
            named("172.16.0.0/12", PRIVATE),
            named("192.0.0.0/24", RESERVED),
            named("192.0.0.192", METADATA),
            named("192.0.2.0/24", DOCUMENTATION),
            named("192.88.99.0/24", "6to4 relays"),
            named("192.168.0.0/16", PRIVATE),
            named("198.18.0.0/15", "benchmarks"),
            named("198.51.100.0/24", DOCUMENTATION),
            named("203.0.113.0/24", DOCUMENTATION),
            named("224.0.0.0/4", MULTICAST),
            named("240.0.0.0/4", RESERVED),
            named("255.255.255.255", "broadcast"));

    private static final List<Named> SIX = List.of(
            named("::", "unspecified"),
            named("::1", LOOPBACK),
            named("::/96", "IPv4-compatible"),
            named("64:ff9b::/96", Embedded.NAT64),
            named("64:ff9b:1::/48", Embedded.NAT64),
            named("100::/64", "discarded"),
            named("2001::/32", Embedded.TEREDO),
            named("2001::/23", RESERVED),
            named("2001:db8::/32", DOCUMENTATION),
            named("2002::/16", Embedded.SIX_TO_FOUR),
            named("3fff::/20", DOCUMENTATION),
            named("fc00::/7", PRIVATE),
            named("fd00:ec2::254", METADATA),
            named("fd20:ce::254", METADATA),
            named("fe80::/10", LINK_LOCAL),
            named("fec0::/10", "site-local"),
            named("ff00::/8", MULTICAST));

    private final List<Named> denied;
    private final List<IpRange> allowances;

    /**
     * What is denied everywhere, and more.
     *
     * @param cluster ranges of the cluster's pods, services and nodes
     * @param allowances ranges that the installation allows although they are denied
     * @throws IllegalArgumentException if an allowance reaches beyond every denied range, so that it would not lift any
     */
    public DeniedRanges(List<IpRange> cluster, List<IpRange> allowances) {
        List<Named> all = new ArrayList<>(FOUR);
        all.addAll(SIX);
        cluster.forEach(range -> all.add(new Named(range, CLUSTER)));
        for (IpRange allowance : allowances) {
            if (all.stream().noneMatch(named -> named.range().contains(allowance)) && !isOutside(allowance)) {
                throw new IllegalArgumentException("the allowance " + allowance
                        + " does not lie within any denied range; name the part of one that shall be reached");
            }
        }
        this.denied = List.copyOf(all);
        this.allowances = List.copyOf(allowances);
    }

    /** Whether a range has public addresses, or ones between public ones. */
    static boolean meetsPublic(IpRange range) {
        return range.first().isSix()
                ? GLOBAL_UNICAST.contains(range) || range.contains(GLOBAL_UNICAST)
                : FOUR.stream().noneMatch(named -> named.range().contains(range));
    }

    /** The ranges denied everywhere, for walls that are built of them. */
    public static List<Named> everywhere() {
        List<Named> all = new ArrayList<>(FOUR);
        all.addAll(SIX);
        return all;
    }

    /**
     * Whether an address is denied.
     *
     * @return the name of the range that denies it; empty if it may be reached
     */
    public Optional<String> denying(IpAddress address) {
        for (Named named : denied) {
            if (named.range().contains(address) && !isLifted(named.range(), address)) {
                return Optional.of(named.name());
            }
        }
        if (isOutside(IpRange.only(address)) && !isAllowed(address)) {
            return Optional.of("not global unicast");
        }
        for (IpAddress inner : Embedded.in(address)) {
            Optional<String> name = denying(inner);
            if (name.isPresent()) {
                return Optional.of(name.get() + ", within " + address);
            }
        }
        return Optional.empty();
    }

    /**
     * The part of a range that may be reached, for walls that know addresses only. IPv6 addresses that embed others are not
     * among it, even if they are allowed: such a wall cannot look inside.
     */
    public List<ReachableBlock> reachable(IpRange asked) {
        List<IpRange> borders = new ArrayList<>(PARTS_OF_SIX);
        denied.forEach(named -> borders.add(named.range()));
        borders.addAll(allowances);
        return ReachableBlock.of(asked, borders, this::closes);
    }

    /** Whether the addresses of a border are denied, but for those of the borders within it. */
    private boolean closes(IpRange border) {
        boolean lifted = allowances.stream().anyMatch(allowance -> allowance.contains(border));
        return denied.stream()
                        .map(Named::range)
                        .anyMatch(range -> range.contains(border)
                                && allowances.stream()
                                        .noneMatch(
                                                allowance -> allowance.contains(border) && range.contains(allowance)))
                || (border.first().isSix() && !GLOBAL_UNICAST.contains(border) && !lifted)
                || Embedded.embeds(border);
    }

    private boolean isLifted(IpRange range, IpAddress address) {
        return allowances.stream().anyMatch(allowance -> allowance.contains(address) && range.contains(allowance));
    }

    private boolean isAllowed(IpAddress address) {
        return allowances.stream().anyMatch(allowance -> allowance.contains(address));
    }

    private static boolean isOutside(IpRange range) {
        return range.first().isSix() && !GLOBAL_UNICAST.contains(range.first()) && !range.contains(GLOBAL_UNICAST);
    }

    private static Named named(String range, String name) {
        return new Named(IpRange.parse(range), name);
    }
}
