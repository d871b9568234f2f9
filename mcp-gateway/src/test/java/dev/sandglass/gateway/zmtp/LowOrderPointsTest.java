package dev.sandglass.gateway.zmtp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Points of low order agree with every secret key on the same: a server that chose one as its transient key would make a
 * session whose key an eavesdropper knows. RFC 7748, section 6.1, says how to see them, and all of their encodings are
 * here: five points, two of them once more as {@code p} and {@code p + 1}, and each with the highest bit set, which X25519
 * ignores.
 */
class LowOrderPointsTest {

    private static final List<String> LOW_ORDER = List.of(
            // 0, of order 4 on the curve's twist and 2 on the curve.
            "0000000000000000000000000000000000000000000000000000000000000000",
            // 1, of order 4.
            "0100000000000000000000000000000000000000000000000000000000000000",
            // Both of order 8.
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            // p - 1, of order 4 on the twist.
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            // p and p + 1: 0 and 1 in encodings that are not canonical.
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");

    private static final BigInteger P = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(19));
    private static final byte[] SECRET = filled(7);
    private static final byte[] SERVER = filled(9);
    private static final int HIGHEST_BIT = 0x80;

    private final WireUnderTest wire = new WireUnderTest(SERVER);

    static Stream<byte[]> encodings() {
        return LOW_ORDER.stream().map(HexFormat.of()::parseHex).flatMap(point -> {
            byte[] marked = point.clone();
            marked[marked.length - 1] |= (byte) HIGHEST_BIT;
            return Stream.of(point, marked);
        });
    }

    @ParameterizedTest
    @MethodSource("encodings")
    void eachAgreesOnZerosWithEveryKey(byte[] point) {
        for (byte[] secret : List.of(SECRET, SERVER, filled(0), filled(255))) {
            byte[] shared = filled(1);
            X25519.scalarMult(secret, 0, point, 0, shared, 0);
            assertThat(shared).containsOnly(0);
        }
    }

    @ParameterizedTest
    @MethodSource("encodings")
    void noBoxIsMadeWithOne(byte[] point) {
        for (byte[] secret : List.of(SECRET, SERVER, filled(0), filled(255))) {
            assertThatThrownBy(() -> CurveBox.between(point, secret))
                    .isInstanceOf(WireException.class)
                    .hasMessageContaining("weak");
        }
    }

    /** The server has its secret key, so that the welcome is genuine but for the point in it. */
    @ParameterizedTest
    @MethodSource("encodings")
    void aServerWithOneAsItsTransientKeyIsRefusedAndLearnsNothing(byte[] point) {
        wire.send(Zmtp.greeting());
        wire.say(wire.server().welcome(wire.hello(), point));

        assertThat(wire.broken()).containsExactly("its key is a weak one");
        assertThat(wire.isOpen()).isFalse();
        assertThat(wire.sent()).containsExactly("HELLO");
    }

    @Test
    void aServerWithAnyOtherTransientKeyIsNot() {
        wire.send(Zmtp.greeting());
        wire.say(wire.server().welcome(wire.hello()));

        assertThat(wire.broken()).isEmpty();
        assertThat(wire.sent()).containsExactly("HELLO", "INITIATE");
    }

    /** On some lists of bad keys, as 2p - 1, 2p and 2p + 1 of 256 bits; of 255 bits they are ordinary points. */
    @ParameterizedTest
    @ValueSource(ints = {0xd9, 0xda, 0xdb})
    void whatIsOfLowOrderInAllBitsOnlyIsAnOrdinaryPoint(int first) {
        byte[] point = filled(255);
        point[0] = (byte) first;
        assertThat(CurveBox.between(point, SECRET)).isNotNull();
    }

    /** The points of order 8 double to 1; together with 0, 1 and -1 there are no others. */
    @Test
    void theListIsWhole() {
        Set<BigInteger> points = LOW_ORDER.stream()
                .map(text -> number(HexFormat.of().parseHex(text)))
                .collect(Collectors.toSet());
        Set<BigInteger> expected = Stream.concat(
                        Stream.of(BigInteger.ZERO, BigInteger.ONE, P.subtract(BigInteger.ONE)),
                        points.stream().filter(LowOrderPointsTest::doublesToOne))
                .flatMap(u -> Stream.of(u, u.add(P)))
                .filter(u -> u.bitLength() <= 255)
                .collect(Collectors.toSet());
        assertThat(points).isEqualTo(expected).hasSize(LOW_ORDER.size());
        assertThat(points.stream().filter(LowOrderPointsTest::doublesToOne).filter(u -> u.compareTo(P) < 0))
                .hasSize(2);
    }

    /** (u^2 - 1)^2 = 4u(u^2 + 486662u + 1), the doubling of RFC 7748's curve. */
    private static boolean doublesToOne(BigInteger u) {
        BigInteger square = u.multiply(u);
        BigInteger above = square.subtract(BigInteger.ONE).pow(2);
        BigInteger below = u.shiftLeft(2)
                .multiply(square.add(u.multiply(BigInteger.valueOf(486_662))).add(BigInteger.ONE));
        return above.subtract(below).mod(P).signum() == 0 && below.mod(P).signum() != 0;
    }

    private static BigInteger number(byte[] littleEndian) {
        byte[] turned = new byte[littleEndian.length];
        for (int i = 0; i < turned.length; i++) {
            turned[i] = littleEndian[littleEndian.length - 1 - i];
        }
        return new BigInteger(1, turned);
    }

    private static byte[] filled(int value) {
        byte[] bytes = new byte[CurveKeys.LENGTH];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
