package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The schemas of arguments keep to what clients of every model read: one that they cannot read costs all tools. */
class SchemaContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void everyFormOfAnArgumentHasOneTypeAndEveryListSaysOfWhat() throws Exception {
        JsonNode tools = gateway.definitions();

        assertThat(tools.size()).isGreaterThan(10);
        tools.forEach(tool -> check(tool.path("name").asString(), tool.path("inputSchema")));
    }

    private static void check(String place, JsonNode schema) {
        JsonNode type = schema.path("type");
        if (schema.has("anyOf")) {
            assertThat(type.isMissingNode()).as(place).isTrue();
            assertThat(schema.path("anyOf").size()).as(place).isGreaterThan(1);
        } else {
            assertThat(type.isString()).as(place + ": " + type).isTrue();
            assertThat(type.asString().equals("array"))
                    .as(place)
                    .isEqualTo(schema.path("items").isObject());
        }
        schema.path("properties").properties().forEach(entry -> check(place + "." + entry.getKey(), entry.getValue()));
        schema.path("anyOf").forEach(form -> check(place + "|", form));
        for (String inner : List.of("items", "additionalProperties")) {
            if (schema.path(inner).isObject()) {
                check(place + "." + inner, schema.path(inner));
            }
        }
    }

    /** A model that sees a bound keeps to it; one that does not learns of it by a refusal. */
    @ParameterizedTest
    @CsvSource({
        "sandbox_run_code, timeout, 0.1, 3600",
        "sandbox_run_code, wait, 0, 3600",
        "sandbox_run_command, timeout, 0.1, 3600",
        "sandbox_install_packages, wait, 0, 3600",
        "sandbox_get_execution, wait, 0, 3600",
    })
    void secondsHaveTheirBounds(String tool, String field, double least, double most) throws Exception {
        JsonNode schema =
                gateway.definition(tool).path("inputSchema").path("properties").path(field);

        assertThat(schema.path("minimum").asDouble(-1)).isEqualTo(least);
        assertThat(schema.path("maximum").asDouble(-1)).isEqualTo(most);
    }

    /** Strict modes of models' endpoints refuse an object whose names are not fixed; one is taken all the same. */
    @Test
    void variablesAreAListOfTexts() throws Exception {
        JsonNode envs = gateway.definition("sandbox_run_code").at("/inputSchema/properties/envs");

        assertThat(envs.path("type").asString()).isEqualTo("array");
        assertThat(envs.at("/items/type").asString()).isEqualTo("string");
    }
}
