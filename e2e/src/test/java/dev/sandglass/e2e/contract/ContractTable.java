package dev.sandglass.e2e.contract;

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
import java.util.Map;
import java.util.Objects;

/**
 * What callers of the systems before us rely on: {@code contract-rows.yaml}, whose head says how it is written, and the
 * files beside it. Absent fields are empty.
 */
record ContractTable(List<Entry> entries) {

    private static final List<String> FILES = List.of("/contract-rows.yaml", "/contract-rows-m.yaml");
    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(DeserializationFeature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
            .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.AS_EMPTY))
            .build();

    static ContractTable read() {
        return new ContractTable(
                FILES.stream().flatMap(file -> read(file).stream()).toList());
    }

    private static List<Entry> read(String file) {
        try (InputStream stream = Objects.requireNonNull(ContractTable.class.getResourceAsStream(file), file)) {
            return YAML.readValue(stream, new TypeReference<>() {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Those that are to be run. */
    List<Entry> toRun() {
        return entries.stream().filter(entry -> !entry.calls().isEmpty()).toList();
    }

    /**
     * A row, or one side of several.
     *
     * @param rows their ids
     * @param claim in plain words
     * @param own whether it needs a sandbox of its own
     * @param config with which that one is started
     * @param calls that show it
     * @param elsewhere tests that show it, as {@code Class.method}
     * @param dropped why it is not to be had
     */
    record Entry(
            List<String> rows,
            String claim,
            boolean own,
            Map<String, Object> config,
            List<Call> calls,
            List<String> elsewhere,
            String dropped) {

        /** As a report names it. */
        @Override
        public String toString() {
            return String.join(", ", rows) + ": " + claim;
        }
    }

    /**
     * A call of a tool and what must come of it.
     *
     * @param call the tool
     * @param with its arguments; the sandbox is added
     * @param data what the structured content must hold
     * @param text what the text must be; all of them
     * @param pictures kinds of the pictures
     * @param refused the words of a refusal; empty if it is none
     * @param keep a name for each field of the data that later calls use
     * @param eventually whether to ask again until it is so
     */
    record Call(
            String call,
            Map<String, Object> with,
            Map<String, Object> data,
            List<String> text,
            List<String> pictures,
            String refused,
            Map<String, String> keep,
            boolean eventually) {}
}
