package dev.sandglass.gateway.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What sandboxes tell of MCP servers, hostile ones among them. */
class ServerAnswersTest {

    private static final JsonMapper JSON = JsonMapper.shared();

    private static JsonNode json(String text) {
        return JSON.readTree(text.replace('\'', '"'));
    }

    private static String tools(int count) {
        return IntStream.range(0, count)
                .mapToObj("{'name':'t%1$d','module':'t%1$d','description':'d'}"::formatted)
                .collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void aRegistrationIsRead() {
        RegisteredServer server = ServerAnswers.registered("web", json("""
                {'name':'other','server_info':{'name':'Web','version':'1','protocol_version':'2025-11-25'},
                'tools':[{'name':'a-b','module':'a_b','description':'Adds.'}],'folder':'/etc','notes':['one','']}"""));

        assertThat(server)
                .isEqualTo(new RegisteredServer(
                        "web",
                        new RegisteredServer.Info("Web", "1", "2025-11-25"),
                        java.util.List.of(new ServerTool("a-b", "a_b", "Adds.")),
                        0,
                        java.util.List.of("one")));
    }

    @Test
    void toolsAreReadUpToTheBound() {
        JsonNode most = json("{'tools':%s}".formatted(tools(ServerAnswers.MOST_TOOLS)));
        JsonNode more = json("{'tools':%s}".formatted(tools(ServerAnswers.MOST_TOOLS + 7)));

        assertThat(ServerAnswers.registered("web", most))
                .returns(0, RegisteredServer::leftOut)
                .satisfies(server -> assertThat(server.tools()).hasSize(ServerAnswers.MOST_TOOLS));
        assertThat(ServerAnswers.registered("web", more))
                .returns(7, RegisteredServer::leftOut)
                .satisfies(server -> assertThat(server.tools()).hasSize(ServerAnswers.MOST_TOOLS));
    }

    @Test
    void serversAreReadUpToTheBound() {
        String many = IntStream.rangeClosed(0, ServerAnswers.MOST_SERVERS)
                .mapToObj("{'name':'s%d','state':'running','command':'x','tools':[]}"::formatted)
                .collect(Collectors.joining(",", "{'servers':[", "]}"));

        assertThat(ServerAnswers.listed(json(many)))
                .hasSize(ServerAnswers.MOST_SERVERS)
                .last()
                .returns("s63", KnownServer::name);
    }

    @Test
    void textsAreCutAtTheirBounds() {
        String tool =
                "{'tools':[{'name':'%s','module':'m','description':'%s'}],'notes':['%s'],'server_info':{'name':'%s'}}";
        int[] bounds = {
            ServerAnswers.MAX_NAME, ServerAnswers.MAX_DESCRIPTION, ServerAnswers.MAX_NOTE, ServerAnswers.MAX_NAME
        };
        for (int more : new int[] {0, 1}) {
            Object[] texts = IntStream.of(bounds)
                    .mapToObj(bound -> "x".repeat(bound + more))
                    .toArray();
            RegisteredServer server = ServerAnswers.registered("web", json(tool.formatted(texts)));
            ServerTool read = server.tools().getFirst();

            assertThat(IntStream.of(
                                    read.name().length(),
                                    read.description().length(),
                                    server.notes().getFirst().length(),
                                    server.info().name().length())
                            .toArray())
                    .isEqualTo(IntStream.of(bounds).map(bound -> bound + more).toArray());
            assertThat(read.description().endsWith("…")).isEqualTo(more == 1);
        }
        String notes = "'n',".repeat(ServerAnswers.MOST_NOTES) + "'last'";
        assertThat(ServerAnswers.registered("web", json("{'notes':[%s]}".formatted(notes)))
                        .notes())
                .hasSize(ServerAnswers.MOST_NOTES)
                .doesNotContain("last");
    }

    @Test
    void whatCodeCannotImportIsLeftOutAndCounted() {
        RegisteredServer server = ServerAnswers.registered("web", json("""
                {'tools':[{'module':'a'},{'module':'a'},{'module':'a b'},{'module':'é'},{'module':'1a'},{'module':''},{},7,
                {'module':'x\\nimport os'},{'module':7},{'module':'_b1'}]}"""));

        assertThat(server.tools()).extracting(ServerTool::module).containsExactly("a", "_b1");
        assertThat(server.leftOut()).isEqualTo(9);
    }

    @Test
    void wordsOfAServerStandOnOneLineAndShowThemselves() {
        RegisteredServer server = ServerAnswers.registered(
                "web",
                json("{'tools':[{'name':'a\\u001b[2Jb','module':'a','description':'one\\n[ok]\\u202e two\\u2028'}]}"));

        assertThat(server.tools()).containsExactly(new ServerTool("a [2Jb", "a", "one [ok] two"));
    }

    @Test
    void aServerWhoseNameIsNoneIsNotListedAndNoneTwice() {
        assertThat(ServerAnswers.listed(json("""
                        {'servers':[{'name':'a b'},{'name':'../x'},{'name':'_x'},{'name':'web','state':'dancing'},
                        {'name':'web','state':'ended'},{'name':'x','state':'ended','url':'https://a.example.com'},7]}""")))
                .extracting(KnownServer::name, KnownServer::state, KnownServer::origin)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("web", KnownServer.State.UNKNOWN, ""),
                        org.assertj.core.groups.Tuple.tuple("x", KnownServer.State.ENDED, "https://a.example.com"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{'tools':7,'servers':7,'notes':7,'server_info':7}",
                "{'tools':{'a':1},'servers':{'a':{'name':'x'}},'notes':{'a':'b'}}",
                "{'tools':[[[]]],'servers':[[]],'notes':[{}],'server_info':[]}",
                "{'tools':null,'servers':null,'notes':null,'server_info':null}",
            })
    void whatIsOddIsNothing(String text) {
        assertThat(ServerAnswers.registered("web", json(text)).tools()).isEmpty();
        assertThat(ServerAnswers.listed(json(text)))
                .allMatch(server -> server.tools().isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "Z9_", "brave_search"})
    void identifiersAreNames(String name) {
        assertThat(ServerName.isName(name)).isTrue();
        assertThat(ServerName.isName(name + "x".repeat(ServerName.MAX_CHARS - name.length())))
                .isTrue();
        assertThat(ServerName.isName(name + "x".repeat(ServerName.MAX_CHARS - name.length() + 1)))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "_a", "1a", "a-b", "a.b", "a b", "é", "a\n", "a/../b"})
    void othersAreNone(String name) {
        assertThat(ServerName.isName(name)).isFalse();
    }
}
