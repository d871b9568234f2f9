package dev.sandglass.gateway.link.frame;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Recorded messages of the link and what each means, in the folder of the supervisor's tests: each side writes what it
 * says and reads what the other says. A frame is shown as its text, or as {@code hex:} and its bytes.
 */
public final class RecordedFrames {

    public static final String FROM_SUPERVISOR = "from_supervisor.json";
    static final String FROM_GATEWAY = "from_gateway.json";
    private static final Path FOLDER = Path.of("..", "kernel-image", "tests", "frames");
    private static final String HEX = "hex:";
    private static final JsonMapper JSON = JsonMapper.shared();

    /** A message and what its reader makes of it. */
    public record Recorded(String name, List<byte[]> frames, JsonNode means) {
        @Override
        public String toString() {
            return name;
        }
    }

    private RecordedFrames() {}

    public static List<Recorded> load(String file) throws IOException {
        return JSON.readTree(FOLDER.resolve(file))
                .valueStream()
                .map(entry -> new Recorded(
                        entry.path("name").asString(),
                        entry.path("frames")
                                .valueStream()
                                .map(frame -> frame(frame.asString()))
                                .toList(),
                        entry.path("means")))
                .toList();
    }

    /** The file as it is, or empty if there is none. */
    static String text(String file) throws IOException {
        Path path = FOLDER.resolve(file);
        return Files.exists(path) ? Files.readString(path) : "";
    }

    static void write(String file, String text) throws IOException {
        Files.writeString(FOLDER.resolve(file), text);
    }

    static String render(List<Recorded> entries) {
        List<Map<String, Object>> shown = entries.stream()
                .map(entry -> {
                    Map<String, Object> fields = new LinkedHashMap<>();
                    fields.put("name", entry.name());
                    fields.put(
                            "frames",
                            entry.frames().stream().map(RecordedFrames::shown).toList());
                    fields.put("means", entry.means());
                    return fields;
                })
                .toList();
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(shown) + "\n";
    }

    static ObjectNode json(String text) {
        return (ObjectNode) JSON.readTree(text);
    }

    static String shown(byte[] frame) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(frame))
                    .toString();
            return text.startsWith(HEX) ? hex(frame) : text;
        } catch (CharacterCodingException notText) {
            return hex(frame);
        }
    }

    private static String hex(byte[] frame) {
        return HEX + HexFormat.of().formatHex(frame);
    }

    private static byte[] frame(String shown) {
        return shown.startsWith(HEX)
                ? HexFormat.of().parseHex(shown.substring(HEX.length()))
                : shown.getBytes(StandardCharsets.UTF_8);
    }
}
