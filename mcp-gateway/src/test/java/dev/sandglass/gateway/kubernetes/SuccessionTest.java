package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.SandboxToolServer;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which of several servers of one name counts, and which are deleted when. */
class SuccessionTest {

    private static final Instant BEGIN = Instant.parse("2026-11-27T10:00:00Z");

    private static SandboxToolServer server(String name, @Nullable String number) {
        var server = new SandboxToolServer();
        server.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withCreationTimestamp(BEGIN.toString())
                .withAnnotations(number == null ? Map.of() : Map.of(SandboxLabels.REGISTRATION, number))
                .build());
        return server;
    }

    private static SandboxToolServer leaving(String name, String number) {
        SandboxToolServer server = server(name, number);
        server.getMetadata().setDeletionTimestamp(BEGIN.toString());
        return server;
    }

    private static List<String> names(List<SandboxToolServer> servers) {
        return servers.stream().map(server -> server.getMetadata().getName()).toList();
    }

    private static String serving(SandboxToolServer... named) {
        return Succession.serving(List.of(named))
                .map(server -> server.getMetadata().getName())
                .orElse("");
    }

    @Test
    void theFirstCountsUntilItIsGone() {
        SandboxToolServer former = server("web-b", "1");
        SandboxToolServer anew = server("web-a", "2");

        assertThat(serving(former, anew)).isEqualTo("web-b");
        assertThat(serving(anew, former)).isEqualTo("web-b");
        assertThat(serving(anew)).isEqualTo("web-a");
        assertThat(serving(leaving("web-b", "1"), anew)).isEqualTo("web-a");
        assertThat(serving()).isEmpty();
    }

    /** Both looked before either had written. Every gateway sees the same one. */
    @Test
    void ofTwoWithOneNumberTheNameDecides() {
        SandboxToolServer one = server("web-a", "2");
        SandboxToolServer other = server("web-b", "2");

        assertThat(serving(one, other)).isEqualTo("web-a");
        assertThat(serving(other, one)).isEqualTo("web-a");
    }

    /** Whichever of the two runs first, one is left, and at no moment none. */
    @Test
    void twoGatewaysThatRegisterAtOnceLeaveOne() {
        SandboxToolServer former = server("web-z", "1");
        SandboxToolServer one = server("web-a", "2");
        SandboxToolServer other = server("web-b", "2");

        for (var order : List.of(List.of(one, other), List.of(other, one))) {
            var left = new ArrayList<>(List.of(former, one, other));
            for (SandboxToolServer running : order) {
                if (left.contains(running)) {
                    left.removeAll(Succession.before(left, running));
                }
                assertThat(left).isNotEmpty();
            }
            assertThat(names(left)).containsExactly("web-b");
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "0,0", "999999999999999,999999999999999", "1000000000000000,0", "-1,0", "one,0", "'',0"})
    void aNumberIsReadUpToItsBound(String annotation, long number) {
        assertThat(Succession.number(server("web", annotation))).isEqualTo(number);
    }

    @Test
    void eachRegistrationIsNumberedBehindAllThatAreThere() {
        assertThat(Succession.next(List.of())).isEqualTo(1);
        // An older gateway numbers none.
        assertThat(Succession.number(server("web", null))).isZero();
        assertThat(Succession.next(List.of(server("web", null)))).isEqualTo(1);
        assertThat(Succession.next(List.of(server("web-a", "7"), server("web-b", "3"))))
                .isEqualTo(8);
        assertThat(serving(server("web-b", null), server("web-a", "1"))).isEqualTo("web-b");
    }

    @Test
    void aNewRegistrationOvertakesThoseThatHaveNotTakenOverYet() {
        List<SandboxToolServer> named = List.of(server("web-c", "3"), server("web-a", "1"), server("web-b", "2"));

        assertThat(names(Succession.overtaken(named))).containsExactlyInAnyOrder("web-b", "web-c");
        assertThat(Succession.overtaken(List.of(server("web-a", "1")))).isEmpty();
        assertThat(Succession.overtaken(List.of())).isEmpty();
    }

    /** Until the last deletion code calls the former: if one fails, nothing has changed. */
    @Test
    void theOneThatCountsIsDeletedLast() {
        SandboxToolServer running = server("web-c", "3");
        List<SandboxToolServer> named =
                List.of(server("web-a", "1"), server("web-d", "4"), running, server("web-b", "2"));

        assertThat(names(Succession.before(named, running))).containsExactly("web-b", "web-a");
    }

    @Test
    void whatStandsAsideTooLongIsAbandoned() {
        List<SandboxToolServer> named = List.of(server("web-a", "1"), server("web-b", "2"));
        Duration longest = Succession.LONGEST;

        assertThat(Succession.abandoned(named, BEGIN.plus(longest))).isEmpty();
        assertThat(names(Succession.abandoned(named, BEGIN.plus(longest).plusSeconds(1))))
                .containsExactly("web-b");
        // One that counts is never abandoned, however old.
        assertThat(Succession.abandoned(List.of(server("web-b", "2")), BEGIN.plus(Duration.ofDays(9))))
                .isEmpty();
        SandboxToolServer undated = server("web-c", "3");
        undated.getMetadata().setCreationTimestamp("lately");
        assertThat(Succession.abandoned(List.of(server("web-a", "1"), undated), BEGIN.plus(Duration.ofDays(9))))
                .isEmpty();
    }
}
