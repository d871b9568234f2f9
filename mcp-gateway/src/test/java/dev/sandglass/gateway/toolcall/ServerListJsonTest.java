package dev.sandglass.gateway.toolcall;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.toolserver.SharedServerState;
import dev.sandglass.gateway.toolserver.SharedServerState.State;
import dev.sandglass.gateway.toolserver.SharedServerState.Tool;
import dev.sandglass.gateway.toolserver.SharedServerState.Tools;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** The list of servers fits into an answer, whatever servers are called and say. */
class ServerListJsonTest {

    @Test
    void theLongestListFitsAndSaysWhatItLacks() {
        var tool = new Tool("\"".repeat(Tools.MAX_NAME) + "…", "語".repeat(Tools.MAX_DESCRIPTION) + "…");
        var tools = new Tools(Collections.nCopies(Tools.MOST, tool), 7);
        List<SharedServerState> servers = IntStream.range(0, SharedServerList.MOST)
                .mapToObj(i -> new SharedServerState(
                        "s".repeat(60) + i, State.FAILED, "語".repeat(500) + "…", Optional.of(tools)))
                .toList();
        ObjectNode json = ServerListJson.of(servers);

        byte[][] frames = LinkFrames.returned("1", new Answer(json, Blob.EMPTY));
        assertThat(new String(frames[2], StandardCharsets.UTF_8)).startsWith("{\"servers\":[{\"name\":\"sss");
        assertThat(json.path("servers")).hasSize(SharedServerList.MOST);
        int known = json.at("/servers/0/tools").size();
        assertThat(known).isBetween(1, Tools.MOST - 1);
        assertThat(json.at("/servers/0/left_out").asInt()).isEqualTo(Tools.MOST - known + 7);
    }

    @Test
    void oneServerHasAllThatIsKnown() {
        var tools = new Tools(Collections.nCopies(Tools.MOST, new Tool("search", "Searches.")), 0);
        ObjectNode json =
                ServerListJson.of(List.of(new SharedServerState("web", State.RUNNING, "", Optional.of(tools))));

        assertThat(json.at("/servers/0/tools")).hasSize(Tools.MOST);
        assertThat(json.at("/servers/0/left_out").asInt()).isZero();
        assertThat(json.at("/servers/0/detail").isMissingNode()).isTrue();
    }
}
