package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.quota.ByteBudget;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Random;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a body is gathered, byte by byte. */
class BodyTest {

    private static final int MOST = 100_000;

    private final ByteBudget budget = new ByteBudget(250_000, 150_000);

    private Body body(int declared) {
        return new Body(MOST, declared, new Allowance(budget, budget.share("alice")));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8191, 8192, 8193, 50_000, MOST})
    void whatComesInPiecesIsTheWhole(int size) {
        var random = new Random(size);
        byte[] sent = new byte[size];
        random.nextBytes(sent);
        for (int declared : new int[] {size, MOST}) {
            var own = new ByteBudget(MOST, MOST);
            var body = new Body(MOST, declared, new Allowance(own, own.share("alice")));
            for (int at = 0; at < size; ) {
                int count = Math.min(size - at, 1 + random.nextInt(5000));
                body.add(Unpooled.wrappedBuffer(sent, at, count));
                at += count;
            }
            assertThat(body.whole()).isEqualTo(sent);
        }
    }

    @Test
    void theMostPassesAndOneByteMoreIsTooLarge() {
        Body body = body(MOST);
        body.add(Unpooled.wrappedBuffer(new byte[MOST]));

        assertThatThrownBy(() -> body.add(Unpooled.wrappedBuffer(new byte[1])))
                .extracting(problem -> ((McpError) problem).status())
                .isEqualTo(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
    }

    @Test
    void theCallersShareIsFilledToTheLastByteAndNotBeyond() {
        body(MOST).add(Unpooled.wrappedBuffer(new byte[MOST]));
        Body second = body(MOST);
        second.add(Unpooled.wrappedBuffer(new byte[50_000]));

        assertThat(budget.held()).isEqualTo(150_000);
        assertThatThrownBy(() -> second.add(Unpooled.wrappedBuffer(new byte[1])))
                .hasMessageStartingWith("Too much at once: requests of this API key hold 150000 bytes on this replica")
                .asInstanceOf(InstanceOfAssertFactories.type(McpError.class))
                .extracting(McpError::status)
                .isEqualTo(HttpResponseStatus.SERVICE_UNAVAILABLE);
    }

    @Test
    void theReplicasShareIsFilledToTheLastByteAndNotBeyond() {
        budget.share("bob").take(150_000);
        Body body = body(MOST);
        body.add(Unpooled.wrappedBuffer(new byte[MOST]));

        assertThatThrownBy(() -> body(MOST).add(Unpooled.wrappedBuffer(new byte[1])))
                .hasMessageContaining("the requests of all callers hold 250000 bytes");
    }
}
