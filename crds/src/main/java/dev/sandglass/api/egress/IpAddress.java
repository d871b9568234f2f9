package dev.sandglass.api.egress;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * An IP address as a number. An IPv6 address that wraps an IPv4 one in {@code ::ffff:0:0/96} is always the latter.
 *
 * @param bits 32 or 128
 * @param high the upper half of an IPv6 address, 0 for IPv4
 * @param low the lower half, or the IPv4 address
 */
public record IpAddress(int bits, long high, long low) {

    private static final int FOUR = 32;
    private static final int SIX = 128;
    private static final int GROUPS = 8;
    private static final int LONGEST = 39;
    private static final long MAPPED = 0xffffL;

    /**
     * Reads an address in its usual spelling: four decimal numbers without leading zeros, or IPv6 in hexadecimal groups
     * without a zone. Other spellings, which some programs read and others read differently, are refused.
     *
     * @throws IllegalArgumentException saying how an address is written
     */
    public static IpAddress parse(String text) {
        return text.indexOf(':') < 0 ? four(text) : six(text);
    }

    private static IpAddress four(String text) {
        String[] parts = text.split("\\.", -1);
        long value = 0;
        for (String part : parts) {
            int number = Texts.number(part, 255);
            if (number < 0 || parts.length != 4) {
                throw new IllegalArgumentException(Texts.shown(text)
                        + " is not an IPv4 address: four decimal numbers from 0 to 255, no leading zeros");
            }
            value = value << 8 | number;
        }
        return new IpAddress(FOUR, 0, value);
    }

    private static IpAddress six(String text) {
        int gap = text.indexOf("::");
        boolean ok = text.length() <= LONGEST && text.indexOf("::", gap + 1) < 0;
        List<String> before = groups(gap < 0 ? text : text.substring(0, gap));
        List<String> after = gap < 0 ? List.of() : groups(text.substring(gap + 2));
        int count = before.size() + after.size();
        ok &= gap < 0 ? count == GROUPS : count < GROUPS;
        List<String> all = new ArrayList<>(before);
        for (int i = count; ok && i < GROUPS; i++) {
            all.add("0");
        }
        all.addAll(after);
        if (!ok || !all.stream().allMatch(group -> group.length() <= 4 && Texts.isHex(group))) {
            throw new IllegalArgumentException(Texts.shown(text)
                    + " is not an IPv6 address: eight hexadecimal groups, '::' at most once, no zone");
        }
        long high = joined(all.subList(0, 4));
        long low = joined(all.subList(4, GROUPS));
        if (high == 0 && low >>> FOUR == MAPPED) {
            throw new IllegalArgumentException(Texts.shown(text) + " wraps the IPv4 address "
                    + new IpAddress(FOUR, 0, low & 0xffff_ffffL) + "; write that");
        }
        return new IpAddress(SIX, high, low);
    }

    private static List<String> groups(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(":", -1));
    }

    private static long joined(List<String> groups) {
        long value = 0;
        for (String group : groups) {
            value = value << 16 | Integer.parseInt(group, 16);
        }
        return value;
    }

    /** The same address as Java's. */
    public static IpAddress of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        if (bytes.remaining() == 4) {
            return new IpAddress(FOUR, 0, bytes.getInt() & 0xffff_ffffL);
        }
        long high = bytes.getLong();
        long low = bytes.getLong();
        boolean mapped = high == 0 && low >>> FOUR == MAPPED;
        return mapped ? new IpAddress(FOUR, 0, low & 0xffff_ffffL) : new IpAddress(SIX, high, low);
    }

    /** An IPv4 address of its 32 bits. */
    static IpAddress ofFour(long value) {
        return new IpAddress(FOUR, 0, value & 0xffff_ffffL);
    }

    /** Whether it is an IPv6 address. */
    public boolean isSix() {
        return bits == SIX;
    }

    /** The same address for Java's sockets; nothing is looked up. */
    public InetAddress toInetAddress() {
        ByteBuffer bytes = ByteBuffer.allocate(bits / 8);
        if (isSix()) {
            bytes.putLong(high).putLong(low);
        } else {
            bytes.putInt((int) low);
        }
        try {
            return InetAddress.getByAddress(bytes.array());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("An address of " + bits + " bits", e);
        }
    }

    /** The canonical text; IPv6 as in RFC 5952. */
    @Override
    public String toString() {
        if (!isSix()) {
            return (low >> 24) + "." + (low >> 16 & 255) + "." + (low >> 8 & 255) + "." + (low & 255);
        }
        int begin = -1;
        int length = 1;
        for (int i = 0; i < GROUPS; i++) {
            int zeros = zerosFrom(i);
            if (zeros > length) {
                begin = i;
                length = zeros;
            }
        }
        return begin < 0 ? text(0, GROUPS) : text(0, begin) + "::" + text(begin + length, GROUPS);
    }

    private int zerosFrom(int group) {
        int end = group;
        while (end < GROUPS && group(end) == 0) {
            end++;
        }
        return end - group;
    }

    private int group(int index) {
        long half = index < 4 ? high : low;
        return (int) (half >>> (16 * (3 - index % 4))) & 0xffff;
    }

    private String text(int from, int to) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append(i == from ? "" : ":").append(Integer.toHexString(group(i)));
        }
        return text.toString();
    }
}
