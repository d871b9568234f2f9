package dev.sandglass.e2e.dropin;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;

/**
 * What users of ipybox, ipython-mcp and mcp-server-code-execution-mode rely on, row by row: {@code contract-rows-endpoints.yaml},
 * whose head says how it is written. Absent fields are empty.
 */
record EndpointRows(List<Entry> entries) {

    private static final String FILE = "/contract-rows-endpoints.yaml";
    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
            .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
            .build();

    static EndpointRows read() {
        try (InputStream stream = Objects.requireNonNull(EndpointRows.class.getResourceAsStream(FILE), FILE)) {
            return new EndpointRows(YAML.readValue(stream, new TypeReference<>() {}));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A row, or one side of several.
     *
     * @param rows their ids
     * @param claim in plain words
     * @param checks tests that show it, as {@code Class.method}, or {@code test_module.test_name} of {@code cli/tests}
     * @param mapped what stands in its place
     * @param dropped why it is not to be had
     */
    record Entry(List<String> rows, String claim, List<String> checks, String mapped, String dropped) {

        /** As a report names it. */
        @Override
        public String toString() {
            return String.join(", ", rows) + ": " + claim;
        }
    }
}
