package dev.sandglass.gateway.toolcall;

import static dev.sandglass.gateway.testing.FakeSharedServers.server;
import static dev.sandglass.gateway.toolcall.ToolCallScene.BOX;
import static dev.sandglass.gateway.toolcall.ToolCallScene.OTHER;
import static dev.sandglass.gateway.toolcall.ToolCallScene.blob;
import static dev.sandglass.gateway.toolcall.ToolCallScene.problem;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The way of a call from code to a shared server, and who may call what. */
class ToolCallsTest {

    private static final String SEARCH = "{'server':'web','tool':'search'}";

    private final ToolCallScene scene = new ToolCallScene();

    @BeforeEach
    void start() {
        scene.servers.put(server("web"));
        scene.run("web");
    }

    @AfterEach
    void stop() {
        scene.close();
    }

    @Test
    void theFirstCallRegistersTheServerAndTheNextDoesNot() throws Exception {
        assertThat(blob(scene.search("{\"a\":1}"))).isEqualTo("{\"a\":1}");
        assertThat(blob(scene.search("{\"a\":2}"))).isEqualTo("{\"a\":2}");

        assertThat(scene.verbs(Verb.RegisterServer.class)).singleElement().satisfies(verb -> {
            assertThat(verb.registration()).isEqualTo(FakeSharedServers.command("web"));
            assertThat(verb.api()).isFalse();
            assertThat(verb.revision()).isEqualTo("server-web.1");
        });
        assertThat(scene.verbs(Verb.CallServerTool.class))
                .extracting(Verb.CallServerTool::server, Verb.CallServerTool::tool, Verb.CallServerTool::timeout)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("web", "search", Duration.ofSeconds(60)),
                        org.assertj.core.groups.Tuple.tuple("web", "search", Duration.ofSeconds(60)));
        assertThat(scene.verbs(Verb.CallServerTool.class))
                .extracting(Verb.CallServerTool::callId)
                .doesNotHaveDuplicates();
    }

    @Test
    void anotherVersionOfTheResourceIsRegisteredAnew() throws Exception {
        blob(scene.search("{}"));
        scene.servers.put(new SharedServer(
                FakeSharedServers.identity("web", 2),
                FakeSharedServers.command("web"),
                ToolRules.ALL,
                SharedServer.Bounds.DEFAULT,
                Optional.empty()));
        blob(scene.search("{}"));

        assertThat(scene.verbs(Verb.RegisterServer.class))
                .extracting(Verb.RegisterServer::revision)
                .containsExactly("server-web.1", "server-web.2");
    }

    @Test
    void aPodThatForgotTheServerIsToldOfItOnceMore() throws Exception {
        blob(scene.search("{}"));
        scene.supervisor.servers.callFailures.add(Refusals.of("no_server", "there is no MCP server 'web'"));

        assertThat(blob(scene.search("{\"again\":1}"))).isEqualTo("{\"again\":1}");
        assertThat(scene.verbs(Verb.RegisterServer.class)).hasSize(2);

        scene.supervisor.servers.callFailures.add(Refusals.of("no_server", "a name of the pod's"));
        scene.supervisor.servers.callFailures.add(Refusals.of("no_server", "a name of the pod's"));
        LinkException twice = problem(scene.search("{}"));
        assertThat(twice.code()).isEqualTo("not_running");
        assertThat(twice.text()).doesNotContain("a name of the pod's");
    }

    /** The attack has its control: the same question from the right sandbox is answered. */
    @Test
    void whatASandboxMayNotUseIsNotThere() throws Exception {
        scene.servers.put(server("teamed"), Map.of("team", "b"));
        String teamed = "{'server':'teamed','tool':'search'}";
        LinkException ofOtherNamespace = problem(scene.ask(OTHER, "tool_call", SEARCH, "{}"));
        LinkException ofOtherTeam = problem(scene.ask(BOX, "tool_call", teamed, "{}"));
        LinkException unknown = problem(scene.ask(BOX, "tool_call", teamed.replace("teamed", "absent"), "{}"));
        LinkException ofNobody = problem(scene.ask("uid-nobody", "tool_call", SEARCH, "{}"));

        for (LinkException each : List.of(ofOtherNamespace, ofOtherTeam, unknown, ofNobody)) {
            assertThat(each.code()).isEqualTo("no_server");
        }
        assertThat(ofOtherTeam.text().replace("teamed", "X"))
                .isEqualTo(unknown.text().replace("absent", "X"));
        assertThat(ofOtherNamespace.text()).isEqualTo(ofNobody.text());
        assertThat(problem(scene.ask(OTHER, "tool_list", "{'server':'web'}", ""))
                        .code())
                .isEqualTo("no_server");
        assertThat(scene.supervisor.verbs).isEmpty();
        for (String uid : List.of(OTHER, "uid-nobody")) {
            assertThat(scene.ask(uid, "tool_servers", "{}", "")
                            .get()
                            .answer()
                            .json()
                            .toString())
                    .isEqualTo("{\"servers\":[]}");
        }

        assertThat(blob(scene.ask(BOX, "tool_call", SEARCH, "{\"control\":1}"))).isEqualTo("{\"control\":1}");
        scene.servers.add("uid-teamed", "sandglass-default", Map.of("team", "b"));
        scene.run("teamed");
        assertThat(blob(scene.ask("uid-teamed", "tool_call", teamed, "{}"))).isEqualTo("{}");
    }

    @Test
    void codeCannotNameACommandOrAnAddress() throws Exception {
        String smuggled = "{'server':'web','tool':'search','command':'sh','url':'http://a','args':['x'],"
                + "'namespace':'sandglass-other','sandbox':'uid-other','revision':'9'}";
        blob(scene.ask(BOX, "tool_call", smuggled, "{}"));

        assertThat(scene.verbs(Verb.RegisterServer.class))
                .extracting(Verb.RegisterServer::registration)
                .containsExactly(FakeSharedServers.command("web"));
        assertThat(scene.audit()).singleElement().asString().contains("namespace=sandglass-default sandbox=box");
    }

    @Test
    void rulesForbidByNameAndGlob() throws Exception {
        scene.servers.put(server(
                "web",
                new ToolRules(List.of("s*", "delete_*"), List.of("delete_*"), List.of("search_deep")),
                SharedServer.Bounds.DEFAULT));

        assertThat(blob(scene.ask(BOX, "tool_call", SEARCH, "{}"))).isEqualTo("{}");
        for (String tool : List.of("delete_all", "fetch", "Search", "search_deep")) {
            LinkException why = problem(scene.ask(BOX, "tool_call", SEARCH.replace("search", tool), "{}"));
            assertThat(why.code()).as(tool).isEqualTo("not_allowed");
            assertThat(why.text()).startsWith("web." + tool + ": ");
            assertThat(why.text().contains("approval")).isEqualTo(tool.equals("search_deep"));
        }
        assertThat(scene.verbs(Verb.CallServerTool.class)).hasSize(1);
    }

    /** Until there are approvals. */
    @Test
    void aToolThatAPersonIsToApproveIsNeitherListedNorCalledAndTheRefusalSaysWhatToDo() throws Exception {
        scene.servers.put(server(
                "web",
                new ToolRules(List.of("search"), List.of("delete_all"), List.of("sea*", "delete_*")),
                SharedServer.Bounds.DEFAULT));

        LinkException why = problem(scene.ask(BOX, "tool_call", SEARCH, "{}"));
        assertThat(why.code()).isEqualTo("not_allowed");
        assertThat(why.text())
                .isEqualTo(
                        "web.search: calls of this tool need a person's approval, which cannot be given yet; an"
                                + " administrator permits them by taking the tool out of spec.tools.ask of SandboxToolServer web");
        assertThat(scene.audit()).singleElement().asString().contains(" tool=search ", " outcome=not_allowed ");
        assertThat(problem(scene.ask(BOX, "tool_call", SEARCH.replace("search", "delete_all"), "{}"))
                        .text())
                .as("deny counts first")
                .doesNotContain("approval");
        assertThat(scene.counted("stdio", "not_allowed")).isEqualTo(2);
        assertThat(blob(scene.ask(BOX, "tool_list", "{'server':'web'}", "")))
                .isEqualTo("{\"server\":\"web\",\"tools\":[],\"left_out\":0}");
        assertThat(scene.verbs(Verb.CallServerTool.class)).isEmpty();
    }

    @Test
    void aListHasNoToolThatMayNotBeCalled() throws Exception {
        scene.servers.put(server("web", new ToolRules(null, List.of("delete_*"), null), SharedServer.Bounds.DEFAULT));

        assertThat(blob(scene.ask(BOX, "tool_list", "{'server':'web'}", ""))).isEqualTo("""
                        {"server":"web","tools":[{"name":"search","description":"Searches the web.","inputSchema":{}}],\
                        "left_out":0}""");
        assertThat(scene.ask(BOX, "tool_servers", "{}", "")
                        .get()
                        .answer()
                        .json()
                        .toString())
                .isEqualTo("""
                        {"servers":[{"name":"web","state":"running",\
                        "tools":[{"name":"search","description":"Searches the web."}],"left_out":0}]}""");
        scene.supervisor.servers.tools = "[]";
        assertThat(problem(scene.ask(BOX, "tool_list", "{'server':'web'}", "")).code())
                .isEqualTo("failed");
    }

    @Test
    void argumentsOfACallAreChecked() throws Exception {
        for (String odd : List.of(
                "{}",
                "{'server':'','tool':'a'}",
                "{'server':'web'}",
                "{'server':'web','tool':7}",
                "{'server':'web','tool':'" + "a".repeat(257) + "'}",
                "{'server':'web','tool':'a','timeout_s':0}",
                "{'server':'web','tool':'a','timeout_s':-1}",
                "{'server':'web','tool':'a','timeout_s':'60'}",
                "{'server':['web'],'tool':'a'}")) {
            assertThat(problem(scene.ask(BOX, "tool_call", odd, "{}")).code())
                    .as(odd)
                    .isEqualTo("failed");
        }
        for (String character : List.of("a", "😀")) {
            String tool = character.repeat(256);
            assertThat(blob(scene.ask(BOX, "tool_call", "{'server':'web','tool':'" + tool + "'}", "{}")))
                    .isEqualTo("{}");
        }
    }

    @Test
    void aCallTakesNoLongerThanTheResourceAllows() throws Exception {
        var bounds = new SharedServer.Bounds(Optional.of(Duration.ofSeconds(30)), 1000, 16, 1000);
        scene.servers.put(server("web", ToolRules.ALL, bounds));
        for (String timeout : List.of("86400", "1e300", "29.5", "null")) {
            blob(scene.ask(BOX, "tool_call", "{'server':'web','tool':'a','timeout_s':" + timeout + "}", "{}"));
        }

        assertThat(scene.verbs(Verb.CallServerTool.class))
                .extracting(verb -> verb.timeout().toMillis())
                .containsExactly(30_000L, 30_000L, 29_500L, 30_000L);
    }

    @Test
    void aCallThatIsNotAnsweredInTimeIsGivenUpAtTheServer() throws Exception {
        scene.supervisor.servers.slow = true;
        var answer = scene.search("{}");
        await().until(() -> scene.supervisor.servers.waiting.size() == 1);
        scene.clock.advanceTimeBy(Duration.ofSeconds(61));

        assertThat(problem(answer).code()).isEqualTo("timeout");
        await().until(() -> scene.verbs(Verb.CancelServerCall.class).size() == 1);
        assertThat(scene.verbs(Verb.CancelServerCall.class).getFirst().callId())
                .isEqualTo(scene.verbs(Verb.CallServerTool.class).getFirst().callId());
        assertThat(scene.calls.heldBytes()).isZero();
    }

    @Test
    void aCallThatItsCallerGivesUpIsGivenUpAtTheServer() {
        scene.supervisor.servers.slow = true;
        var answer = scene.search("{}");
        await().until(() -> scene.supervisor.servers.waiting.size() == 1);
        answer.cancel(false);

        await().until(() -> scene.supervisor.servers.waiting.isEmpty());
        assertThat(scene.verbs(Verb.CancelServerCall.class)).hasSize(1);
        assertThat(scene.calls.heldBytes()).isZero();
        assertThat(scene.counted("stdio", "cancelled")).isEqualTo(1);
    }

    @Test
    void problemsOfThePodComeThroughAndOthersGetAWordOfOurs() throws Exception {
        Map<LinkException, String> words = Map.of(
                Refusals.of("no_tool", "server 'web' has no tool 'search'"),
                "no_tool",
                Refusals.of("too_many", "32 calls wait"),
                "too_many",
                Refusals.of("timeout", "no answer within 60 s"),
                "timeout",
                Refusals.of("too_large", "too large"),
                "too_large",
                Refusals.of("not_running", "it ended"),
                "not_running",
                Refusals.of("bad_request", "arguments: no"),
                "failed",
                Refusals.of("network_open", "the network is open"),
                "failed",
                new LinkException(LinkException.Kind.UNANSWERED, "gone"),
                "failed",
                new LinkException(LinkException.Kind.RESTARTED, "restarted"),
                "failed",
                new LinkException(LinkException.Kind.UNREACHABLE, "silent"),
                "not_running");
        for (var each : words.entrySet()) {
            scene.supervisor.servers.callFailures.add(each.getKey());
            assertThat(problem(scene.search("{}")).code())
                    .as(each.getKey().text())
                    .isEqualTo(each.getValue());
        }
    }

    @Test
    void aCallHasOneAuditLineWithoutArgumentsAndResults() throws Exception {
        blob(scene.ask(BOX, "default.box.1.abc", "tool_call", SEARCH, "{\"words\":\"s3cr3t\"}"));
        scene.servers.put(server("web", new ToolRules(List.of(), null, null), SharedServer.Bounds.DEFAULT));
        problem(scene.ask(BOX, "e\u001b[2J\n", "tool_call", SEARCH.replace("search", "s\\u202ee\\n"), "{}"));

        assertThat(scene.audit()).hasSize(2).allMatch(line -> line.matches("[\\x20-\\x7e]+"));
        assertThat(scene.audit().get(0))
                .startsWith("tool server call namespace=sandglass-default sandbox=box execution_id=default.box.1.abc"
                        + " server=web tool=search arguments_sha256=")
                .contains(" arguments_bytes=18 outcome=ok duration_ms=0")
                .doesNotContain("s3cr3t");
        assertThat(scene.audit().get(1)).contains("outcome=not_allowed");
        assertThat(scene.counted("stdio", "ok")).isEqualTo(1);
        assertThat(scene.counted("stdio", "not_allowed")).isEqualTo(1);
    }

    @Test
    void refusalsHaveALineASecondThatCountsTheOthers() throws Exception {
        for (int i = 0; i < 5; i++) {
            problem(scene.ask(BOX, "tool_call", "{'server':'absent','tool':'a'}", "{}"));
        }
        assertThat(scene.audit()).hasSize(1);
        scene.nanos.addAndGet(Duration.ofSeconds(1).toNanos());
        problem(scene.ask(BOX, "tool_call", "{'server':'absent','tool':'a'}", "{}"));

        assertThat(scene.audit()).hasSize(2);
        assertThat(scene.audit().get(1)).contains("outcome=no_server", "others=4");
        assertThat(scene.counted("none", "no_server")).isEqualTo(6);
    }
}
