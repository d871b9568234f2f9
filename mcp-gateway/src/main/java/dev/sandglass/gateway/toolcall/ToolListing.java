package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.toolserver.SharedServerState.Tool;
import dev.sandglass.gateway.toolserver.SharedServerState.Tools;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tools of a server as its pod lists them, {@code {"tools":[…],"left_out":N}}, without those that code may not call. It
 * copies what it leaves in byte by byte and builds no tree: a list has megabytes, and a tree ten times as many. Pure.
 *
 * @param json the list for the sandbox
 * @param tools the beginning of it
 * @param count how many tools the server has, those among them that code may not call
 * @param hash digest of the names and schemas of these, in any order
 */
public record ToolListing(Blob json, Tools tools, int count, String hash) {

    /** Most tools of one server that are read; a supervisor takes no more. */
    static final int MOST = 512;

    private static final JsonMapper JSON = JsonMapper.shared();

    /**
     * What the rules leave of a list.
     *
     * @param server as code names it
     * @return empty if it is no list
     */
    static Optional<ToolListing> of(String server, Blob list, ToolRules rules) {
        try (JsonParser parser = JSON.createParser(list.bytes())) {
            return Optional.of(new Reading(list.bytes(), parser, rules).read(server));
        } catch (JacksonException | NotAList odd) {
            return Optional.empty();
        }
    }

    /** It is JSON, and no list. */
    private static final class NotAList extends RuntimeException {
        private static final long serialVersionUID = 1;

        private NotAList() {
            super(null, null, false, false);
        }
    }

    /** One list while it is read. */
    private static final class Reading {
        private final byte[] list;
        private final JsonParser parser;
        private final ToolRules rules;
        private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
        private final List<Tool> shown = new ArrayList<>();
        private final ToolsHash hash = new ToolsHash();
        private int count;
        private int all;
        private long leftOut;
        private long beyond;

        private Reading(byte[] list, JsonParser parser, ToolRules rules) {
            this.list = list;
            this.parser = parser;
            this.rules = rules;
        }

        private ToolListing read(String server) {
            begin(JsonToken.START_OBJECT);
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String field = parser.currentName();
                JsonToken value = parser.nextToken();
                if (field.equals("tools") && value == JsonToken.START_ARRAY) {
                    readTools();
                } else if (field.equals("left_out") && value == JsonToken.VALUE_NUMBER_INT) {
                    leftOut += Math.clamp(parser.getValueAsLong(0), 0, Integer.MAX_VALUE);
                } else {
                    parser.skipChildren();
                }
            }
            // The name is an identifier.
            var json = new ByteArrayOutputStream(kept.size() + server.length() + 64);
            json.writeBytes(utf8("{\"server\":\"" + server + "\",\"tools\":["));
            json.writeBytes(kept.toByteArray());
            int more = atMost(leftOut + beyond);
            json.writeBytes(utf8("],\"left_out\":" + more + "}"));
            long notShown = count - (long) shown.size() + more;
            return new ToolListing(
                    Blob.of(json.toByteArray()),
                    new Tools(shown, atMost(notShown)),
                    atMost(all + leftOut),
                    hash.text());
        }

        private static int atMost(long number) {
            return (int) Math.min(number, Integer.MAX_VALUE);
        }

        private void readTools() {
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() == JsonToken.START_OBJECT) {
                    readTool();
                } else {
                    parser.skipChildren();
                }
            }
        }

        private void readTool() {
            int from = offset(parser.currentTokenLocation().getByteOffset());
            var entry = new Entry();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                entry.readField();
            }
            int to = offset(parser.currentLocation().getByteOffset());
            if (!entry.isSound()) {
                return;
            }
            all++;
            hash.add(entry.name, list, entry.input, entry.output);
            if (rules.verdict(entry.name) == ToolRules.Verdict.ALLOWED) {
                keep(from, to, entry.name, entry.description);
            }
        }

        /** A tool of the list. */
        private final class Entry {
            private String name = "";
            private String description = "";
            private ToolsHash.Part input = ToolsHash.Part.NONE;
            private ToolsHash.Part output = ToolsHash.Part.NONE;
            private int names;

            private void readField() {
                String field = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (field) {
                    case "name" -> {
                        names++;
                        name = text(value);
                    }
                    case "description" -> description = text(value);
                    case "inputSchema" -> input = skipped();
                    case "outputSchema" -> output = skipped();
                    default -> parser.skipChildren();
                }
            }

            /** Empty for what is none. */
            private String text(JsonToken value) {
                String text = value == JsonToken.VALUE_STRING ? parser.getString() : "";
                parser.skipChildren();
                return text;
            }

            private ToolsHash.Part skipped() {
                int from = offset(parser.currentTokenLocation().getByteOffset());
                parser.skipChildren();
                return new ToolsHash.Part(from, offset(parser.currentLocation().getByteOffset()));
            }

            /** Of two names, another reader may take the other one. */
            private boolean isSound() {
                return names == 1 && Asked.isName(name);
            }
        }

        private void keep(int from, int to, String name, String description) {
            if (count == MOST) {
                beyond++;
                return;
            }
            if (count > 0) {
                kept.write(',');
            }
            kept.write(list, from, to - from);
            count++;
            if (shown.size() < Tools.MOST) {
                shown.add(new Tool(
                        ForeignText.line(name, Tools.MAX_NAME), ForeignText.line(description, Tools.MAX_DESCRIPTION)));
            }
        }

        private void begin(JsonToken expected) {
            if (parser.nextToken() != expected) {
                throw new NotAList();
            }
        }

        /** It is not known of text that is no UTF-8. */
        private int offset(long offset) {
            if (offset < 0 || offset > list.length) {
                throw new NotAList();
            }
            return (int) offset;
        }

        private static byte[] utf8(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }
}
