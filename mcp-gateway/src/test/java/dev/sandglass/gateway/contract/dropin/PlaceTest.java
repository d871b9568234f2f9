package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Query;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlaceTest {

    private static final TenantAccess ACCESS = new TenantAccess(Tenants.parse(List.of("default=sandglass-default")));

    private static String own(String caller) {
        return Place.of(ACCESS, "ipython", Query.NONE, Set.of(), UnaryOperator.identity())
                .of(new Caller(caller, List.of("default")), Optional.empty())
                .givenName();
    }

    @Test
    void theNameOfACallerIsInThatOfItsSandbox() {
        assertThat(own("alice")).isEqualTo("ipython-alice");
        assertThat(own("x".repeat(55))).isEqualTo("ipython-" + "x".repeat(55));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Alice", "a_b", "alice@example.com", "", "---", "ü", "a-", "系统", "system:serviceaccount:a:b"})
    void anOddOneIsToldFromOthersByADigest(String caller) {
        assertThat(own(caller)).matches("ipython(-[a-z0-9-]*[a-z0-9])?-[0-9a-f]{20}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory=%zz", "sandbox=%", "env=A=%4"})
    void aBrokenEscapeIsRefused(String query) {
        assertThatThrownBy(() -> Place.of(ACCESS, "ipython", new Query(query), Set.of(), UnaryOperator.identity()))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageMatching("in the URL: '[a-z]+' has a '%' without two hexadecimal digits .*");
    }

    @Test
    void noTwoShareOne() {
        assertThat(List.of(own("x".repeat(56)), own("x".repeat(57)), own("x".repeat(300))))
                .doesNotHaveDuplicates()
                .allSatisfy(name -> assertThat(name.length()).isLessThanOrEqualTo(63));
        assertThat(own("a_b")).isNotEqualTo(own("a.b")).isNotEqualTo(own("A_b"));
    }
}
