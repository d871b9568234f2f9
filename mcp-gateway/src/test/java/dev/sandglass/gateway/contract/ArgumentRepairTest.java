package dev.sandglass.gateway.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What models write, and what it is taken for. */
class ArgumentRepairTest {

    private static final JsonMapper JSON = JsonMapper.shared();

    private static final Map<String, Object> SCHEMA = Schema.object()
            .required("sandbox", Schema.ofType("string"))
            .optional("max_output_chars", Schema.ofType("integer"))
            .optional("timeout", Schema.ofType("number"))
            .optional("background", Schema.ofType("boolean"))
            .optional("command", Schema.ofType("string"))
            .optional("args", Schema.list("", Schema.ofType("string")))
            .optional("envs", Variables.schema("Variables"))
            .optional("memory", Schema.either("", "integer", "string"))
            .optional(
                    "config",
                    Schema.object()
                            .optional("disk", Schema.ofType("integer"))
                            .optional("ports", Schema.list("", Schema.ofType("integer"))))
            .optional(
                    "workspace",
                    Schema.anyOf("", Schema.ofType("string"), Schema.object().optional("keep", Schema.flag(""))))
            .keywords();

    private static String repaired(String arguments) {
        return ArgumentRepair.of(SCHEMA, object(arguments)).toString().replace('"', '\'');
    }

    private static ObjectNode object(String text) {
        return (ObjectNode) JSON.readTree(text.replace('\'', '"'));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'sandbox_name':'a'} | {'sandbox':'a'}",
                "{'sandboxName':'a'} | {'sandbox':'a'}",
                "{'name':'a'} | {'sandbox':'a'}",
                "{'Sandbox':'a'} | {'sandbox':'a'}",
                "{'cmd':'ls'} | {'command':'ls'}",
                "{'maxOutputChars':5} | {'max_output_chars':5}",
                "{'max-output-chars':5} | {'max_output_chars':5}",
                "{'env':{'A':'b'}} | {'envs':{'A':'b'}}",
                "{'timeout_seconds':3} | {'timeout':3}",
                "{'timeout':'30'} | {'timeout':30}",
                "{'timeout':'0.5'} | {'timeout':0.5}",
                "{'timeout':'007'} | {'timeout':7}",
                "{'timeout':''} | {}",
                "{'background':'True'} | {'background':true}",
                "{'background':''} | {}",
                "{'args':'','command':'','envs':'','memory':'','config':'','workspace':''} | {}",
                "{'config':{'disk':'','ports':''},'cmd':''} | {'config':{}}",
                "{'args':'-la'} | {'args':['-la']}",
                "{'args':'[1,2]'} | {'args':[1,2]}",
                "{'envs':'A=1'} | {'envs':['A=1']}",
                "{'config':{'disk':'5','ports':8000}} | {'config':{'disk':5,'ports':[8000]}}",
                "{'workspace':{'keep':'true'}} | {'workspace':{'keep':true}}",
            })
    void whatCanMeanOneThingIsTakenForIt(String given, String meant) {
        assertThat(repaired(given)).isEqualTo(meant);
    }

    /** The tool refuses these in its own words. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'sandbox':''}",
                "{'unknown':''}",
                "{'timeout':'30s'}",
                "{'timeout':'1e3'}",
                "{'timeout':'99999999999999999999'}",
                "{'background':'yes'}",
                "{'args':'-l -a'}",
                "{'args':'[1, 2'}",
                "{'memory':'512'}",
                "{'envs':{'A':'b'}}",
                "{'config':'x y'}",
                "{'unknown':'x'}",
                "{'command':5}",
                "{'timeout':null}",
                "{'timeout':[1]}",
            })
    void whateverElseStaysAsItIs(String given) {
        assertThat(ArgumentRepair.of(SCHEMA, object(given))).isEqualTo(object(given));
    }

    @Test
    void anObjectAsTextIsAnObject() {
        ObjectNode given = JSON.createObjectNode().put("config", " {\"disk\":\"5\"} ");

        assertThat(ArgumentRepair.of(SCHEMA, given)).isEqualTo(object("{'config':{'disk':5}}"));
        assertThat(given.path("config").isString())
                .as("the arguments themselves")
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'sandbox':'a','sandbox_name':'b'}",
                "{'sandbox_name':'b','sandbox':'a'}",
                "{'name':'a','sandboxName':'a'}",
            })
    void twoNamesOfOneArgumentAreRefused(String given) {
        Arguments repaired = Arguments.of(ArgumentRepair.of(SCHEMA, object(given)));

        assertThatThrownBy(() -> repaired.refuseOthersThan(Set.of("sandbox", "timeout")))
                .isInstanceOf(InvalidArgument.class)
                .hasMessageMatching("'\\w+' is not known \\(did you mean 'sandbox'\\?\\); known are sandbox, timeout");
    }

    @Test
    void aNameBeyondItsBoundIsLeftAlone() {
        String name = "s_".repeat(31) + "ab";
        ObjectNode given = JSON.createObjectNode().put(name, 1);

        assertThat(ArgumentRepair.of(SCHEMA, given)).isEqualTo(given);
    }

    /** A list given as text is parsed a second time: within bounds, and only where a list may stand. */
    @Test
    void aTextIsParsedWithinBounds() {
        String most = "[" + "1,".repeat(2_000) + "1]";
        ObjectNode fits = JSON.createObjectNode().put("args", most);

        assertThat(ArgumentRepair.of(SCHEMA, fits).path("args").size()).isEqualTo(2_001);
        for (String beyond : List.of(
                "[" + "1,".repeat(6_000) + "1]",
                "[" + "\"a\",".repeat(20) + "\"" + "a".repeat(70_000) + "\"]",
                "[".repeat(20) + "]".repeat(20),
                "[{\"a\":1,\"a\":2}]x")) {
            JsonNode kept = ArgumentRepair.of(SCHEMA, JSON.createObjectNode().put("config", beyond))
                    .path("config");
            assertThat(kept.isString()).as(beyond.substring(0, 10)).isTrue();
        }
    }

    @Test
    void aNullDoesNotTakeThePlaceOfWhatWasSaid() {
        Arguments repaired = Arguments.of(ArgumentRepair.of(SCHEMA, object("{'sandbox_name':'a','sandbox':null}")));

        assertThatThrownBy(() -> repaired.refuseOthersThan(Set.of("sandbox")))
                .hasMessageContaining("'sandbox_name' is not known");
    }

    @Test
    void moreArgumentsThanAnyToolHasStayAsTheyAre() {
        ObjectNode many = JSON.createObjectNode();
        for (int number = 0; number < 65; number++) {
            many.put("timeout_" + number, "1");
        }
        many.put("cmd", "ls");

        assertThat(ArgumentRepair.of(SCHEMA, many)).isSameAs(many);
    }

    @ParameterizedTest
    @CsvSource({"timout, timeout", "sandbx, sandbox", "comand, command", "argss, args"})
    void aSlipOfThePenFindsItsName(String given, String meant) {
        assertThat(ArgumentRepair.similar(Set.of("timeout", "sandbox", "command", "args"), given))
                .contains(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ti", "elephant", "timeouttimeout"})
    void anythingElseFindsNone(String given) {
        assertThat(ArgumentRepair.similar(Set.of("timeout", "sandbox"), given)).isEmpty();
    }
}
