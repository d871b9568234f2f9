package dev.sandglass.gateway.testing;

import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

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

    /** What the question for the tools of one is answered with: JSON. */
    public volatile String tools = """
            {"server":"web","tools":[{"name":"search","description":"Searches the web.","inputSchema":{}},\
            {"name":"delete_all","description":"Deletes the web.","inputSchema":{}}],"left_out":0}""";

    /** Calls of tools that wait for their answer, in order. */
    public final List<WaitingCall> waiting = new CopyOnWriteArrayList<>();

    /** Whether calls of tools wait until the test answers them; else their arguments are the answer. */
    public volatile boolean slow;

    /** How whatever is asked for fails; null if it does not. */
    public volatile @Nullable LinkException failure;

    /** How servers fail to start in pods of their own; null if they do not. */
    public volatile @Nullable LinkException startFailure;

    /** How functions of servers in other pods fail to be written; null if they do not. */
    public volatile @Nullable LinkException functionsFailure;

    /** How the next calls of tools fail, one after the other. */
    public final Queue<LinkException> callFailures = new ConcurrentLinkedQueue<>();

    /** Whether a registration is not answered. */
    public volatile boolean silent;

    /** Those registrations, for the test to answer. */
    public final List<CompletableFuture<Answer>> unanswered = new CopyOnWriteArrayList<>();

    private final JsonMapper json = JsonMapper.shared();

    Answer answered(Verb.OfServers verb) {
        return switch (verb) {
            case Verb.RegisterServer order -> {
                LinkException broken = startFailure;
                if (broken != null && !order.api()) {
                    throw broken;
                }
                yield answer(registered);
            }
            case Verb.ListServers _ -> answer(listed);
            case Verb.RemoveServer _ -> answer("{}");
            case Verb.WriteFunctions order -> {
                LinkException broken = functionsFailure;
                if (broken != null) {
                    throw broken;
                }
                yield new Answer(functions(order), Blob.EMPTY);
            }
            case Verb.ListServerTools _ -> new Answer(answer("{}").json(), Blob.utf8(tools));
            case Verb.CancelServerCall cancel -> cancelled(cancel.callId());
            case Verb.CallServerTool call -> throw new IllegalArgumentException(call.tool());
        };
    }

    /** As a supervisor answers that writes a module for each tool. */
    private ObjectNode functions(Verb.WriteFunctions order) {
        ObjectNode answer = json.createObjectNode().put("name", order.name());
        ArrayNode modules = answer.putArray("tools");
        for (JsonNode tool : json.readTree(order.tools().bytes()).path("tools")) {
            String name = tool.path("name").asString();
            modules.addObject()
                    .put("name", name)
                    .put("module", name.toLowerCase(Locale.ROOT).replace('-', '_'))
                    .put("description", tool.path("description").asString(""));
        }
        return answer;
    }

    /** A call of a tool, to be answered by the test. */
    public record WaitingCall(Verb.CallServerTool verb, CompletableFuture<Answer> answer) {}

    CompletableFuture<Answer> called(Verb.CallServerTool call) {
        LinkException broken = callFailures.poll();
        if (broken != null) {
            return CompletableFuture.failedFuture(broken);
        }
        var answer = new CompletableFuture<Answer>();
        if (slow) {
            waiting.add(new WaitingCall(call, answer));
        } else {
            answer.complete(new Answer(json.createObjectNode(), call.arguments()));
        }
        return answer;
    }

    private Answer cancelled(String callId) {
        List<WaitingCall> given = waiting.stream()
                .filter(call -> call.verb().callId().equals(callId))
                .toList();
        given.forEach(call -> call.answer().completeExceptionally(Refusals.of("cancelled", "the call was cancelled")));
        waiting.removeAll(given);
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
