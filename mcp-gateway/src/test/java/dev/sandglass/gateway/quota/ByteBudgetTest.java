package dev.sandglass.gateway.quota;

import static dev.sandglass.gateway.quota.ByteBudget.Taken.NO_ROOM;
import static dev.sandglass.gateway.quota.ByteBudget.Taken.NO_ROOM_OF_OWNER;
import static dev.sandglass.gateway.quota.ByteBudget.Taken.YES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Who may hold how much, to the byte. */
class ByteBudgetTest {

    private final ByteBudget budget = new ByteBudget(10, 6);

    @Test
    void anOwnerHoldsItsMostAndNotOneMore() {
        ByteBudget.Share one = budget.share("a");
        ByteBudget.Share two = budget.share("a");

        assertThat(one.take(4)).isEqualTo(YES);
        assertThat(two.take(3)).isEqualTo(NO_ROOM_OF_OWNER);
        assertThat(two.take(2)).isEqualTo(YES);
        assertThat(two.take(1)).isEqualTo(NO_ROOM_OF_OWNER);
        assertThat(budget.held()).isEqualTo(6);
    }

    @Test
    void allTogetherHoldTheirMostAndNotOneMore() {
        assertThat(budget.share("a").take(6)).isEqualTo(YES);
        ByteBudget.Share other = budget.share("b");

        assertThat(other.take(5)).isEqualTo(NO_ROOM);
        assertThat(other.take(4)).isEqualTo(YES);
        assertThat(budget.share("c").take(1)).isEqualTo(NO_ROOM);
    }

    @Test
    void whatIsGivenBackCanBeTakenAgainByAnybody() {
        ByteBudget.Share one = budget.share("a");
        one.take(6);
        one.give(2);

        assertThat(budget.share("b").take(6)).isEqualTo(YES);
        assertThat(budget.held()).isEqualTo(10);
    }

    @Test
    void nobodyGivesBackMoreThanItHolds() {
        ByteBudget.Share one = budget.share("a");
        one.take(2);
        budget.share("a").take(4);
        one.give(5);

        assertThat(budget.held()).isEqualTo(4);
        assertThat(one.take(3)).isEqualTo(NO_ROOM_OF_OWNER);
    }

    @Test
    void theEndGivesAllBackOnceAndNothingIsTakenAfterIt() {
        ByteBudget.Share one = budget.share("a");
        one.take(5);
        one.end();
        one.end();
        one.give(5);

        assertThat(budget.held()).isZero();
        assertThat(budget.owners()).isZero();
        assertThat(one.take(1)).isEqualTo(NO_ROOM);
    }

    @Test
    void aBudgetThatLetsNobodyInIsRefused() {
        assertThatThrownBy(() -> new ByteBudget(5, 6)).hasMessageContaining("a budget of 5 bytes, 6 for each owner");
        assertThatThrownBy(() -> new ByteBudget(5, 0)).isInstanceOf(IllegalArgumentException.class);
    }
}
