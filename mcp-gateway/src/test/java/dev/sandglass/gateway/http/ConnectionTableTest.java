package dev.sandglass.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Who has to go when one more comes. */
class ConnectionTableTest {

    private final ConnectionTable<String> guests = new ConnectionTable<>(2, 4);

    private void known(String... names) {
        for (String name : names) {
            assertThat(guests.came(name)).isEmpty();
            guests.known(name);
        }
    }

    @Test
    void asManyStrangersStayAsMayAndTheOldestGoesForOneMore() {
        assertThat(guests.came("a")).isEmpty();
        assertThat(guests.came("b")).isEmpty();

        assertThat(guests.came("c")).contains("a");
        assertThat(guests.came("d")).contains("b");
        assertThat(guests.size()).isEqualTo(2);
    }

    @Test
    void whoeverIsKnownIsNoStrangerAnyMore() {
        guests.came("a");
        guests.came("b");
        guests.known("a");

        assertThat(guests.came("c")).isEmpty();
        assertThat(guests.came("d")).contains("b");
    }

    @Test
    void aRequestMakesNoStrangerKnown() {
        guests.came("a");
        guests.busy("a", true);
        guests.busy("a", false);
        guests.came("b");

        assertThat(guests.came("c")).contains("a");
    }

    @Test
    void whenAllPlacesAreTakenStrangersGoBeforeThoseWhoAreIdle() {
        known("a", "b", "c");
        guests.busy("a", false);
        guests.came("d");

        assertThat(guests.came("e")).contains("d");
        assertThat(guests.size()).isEqualTo(4);
    }

    @Test
    void amongTheIdleWhoeverHasBeenSoForLongestGoes() {
        known("a", "b", "c", "d");
        for (String name : List.of("c", "a", "b")) {
            guests.busy(name, false);
        }
        guests.busy("c", true);

        assertThat(guests.came("e")).contains("a");
    }

    @Test
    void nobodyWhoIsServedGoes() {
        known("a", "b", "c", "d");

        assertThat(guests.came("e")).contains("e");
        assertThat(guests.size()).isEqualTo(4);
        guests.known("e");
        assertThat(guests.size()).isEqualTo(4);
    }

    @Test
    void whoeverLeavesMakesRoom() {
        guests.came("a");
        guests.came("b");
        guests.left("a");
        guests.left("a");

        assertThat(guests.came("c")).isEmpty();
        assertThat(guests.size()).isEqualTo(2);
    }
}
