package dev.sandglass.gateway.testing;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The MCP servers of all sandboxes, as a test makes them up. */
public final class FakeToolServers {

    /** What a registration is answered with: JSON. */
    public volatile String registered = """
            {"name":"web","server_info":{"name":"Web","version":"1.2","protocol_version":"2025-11-25"},\
            "tools":[{"name":"search","module":"search","description":"Searches the web."},\
            {"name":"Fetch-URL","module":"fetch_url","description":""}],\
            "folder":"/workspace/mcptools/web","notes":[]}""";

    /** What the question for all is answered with: JSON. */
    public volatile String listed = """
            {"servers":[{"name":"web","state":"running","command":"npx",\
            "tools":[{"name":"search","module":"search","description":"Searches the web."}]},\
            {"name":"gone","state":"ended","url":"https://mcp.example.com","tools":[]}]}""";

    /** How whatever is asked for fails; null if it does not. */
    public volatile @Nullable LinkException failure;

    /** Whether a registration is never answered. */
    public volatile boolean silent;

    private final JsonMapper json = JsonMapper.shared();

    Answer registered() {
        return answer(registered);
    }

    Answer listed() {
        return answer(listed);
    }

    Answer removed() {
        return answer("{}");
    }

    private Answer answer(String text) {
        LinkException broken = failure;
        if (broken != null) {
            throw broken;
        }
        return new Answer(json.readTree(text), Blob.EMPTY);
    }
}
