package dev.sandglass.gateway.link.frame;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Verbs and acknowledgements as frames, protocol version 1:
 * {@code V | request id | json | blob?} and {@code C | execution id | offset}. Pure.
 */
public final class LinkFrames {

    /** The one version that we speak. */
    public static final int PROTOCOL = 1;

    static final byte[] VERB = {'V'};
    static final byte[] CREDIT = {'C'};
    static final byte[] RETURNED = {'U'};

    /** In the place of an execution's id: what is acknowledged was read of files. */
    public static final String FILES = "/files";

    /** In the place of a kernel's name: the event is about the sandbox's network. */
    public static final String NETWORK = "/network";

    /** Most bytes of a verb's json that a supervisor takes. */
    static final int MAX_JSON = 256 * 1024;

    /** Most bytes of a verb's blob that a supervisor takes. */
    static final int MAX_BLOB = 8 * 1024 * 1024;

    private static final JsonMapper JSON = JsonMapper.shared();
    private static final double NANOS = 1e9;

    private LinkFrames() {}

    /**
     * A verb's frames.
     *
     * @param requestId 1 to 32 printable ASCII characters
     * @throws LinkException if the verb is larger than a supervisor takes
     */
    public static byte[][] verb(String requestId, Verb verb) {
        byte[] json = json(verb);
        Blob blob = blob(verb);
        if (json.length > MAX_JSON) {
            throw tooLarge("Arguments", json.length, MAX_JSON);
        }
        if (blob.length() > MAX_BLOB) {
            throw tooLarge("Content", blob.length(), MAX_BLOB);
        }
        byte[] id = ascii(requestId);
        return blob.length() == 0 ? new byte[][] {VERB, id, json} : new byte[][] {VERB, id, json, blob.bytes()};
    }

    /** An acknowledgement's frames: all output before the offset is dealt with, or so many bytes {@link #FILES} came. */
    public static byte[][] credit(String executionId, long offset) {
        return new byte[][] {CREDIT, ascii(executionId), ascii(Long.toString(offset))};
    }

    /** The frames that answer a call of the pod; what is larger than a supervisor takes is answered as that. */
    public static byte[][] returned(String callId, Answer answer) {
        byte[] json = JSON.writeValueAsBytes(answer.json());
        if (json.length > MAX_JSON || answer.blob().length() > MAX_BLOB) {
            String bound = "an answer has at most %d bytes of JSON and %d besides".formatted(MAX_JSON, MAX_BLOB);
            return problem(callId, "too_large", bound);
        }
        byte[] id = ascii(callId);
        return answer.blob().length() == 0
                ? new byte[][] {RETURNED, id, json}
                : new byte[][] {RETURNED, id, json, answer.blob().bytes()};
    }

    /** The frames that say why a call of the pod has no answer; the message is a clause. */
    public static byte[][] problem(String callId, String code, String message) {
        ObjectNode json = JSON.createObjectNode();
        json.putObject("error").put("code", code).put("message", message);
        return new byte[][] {RETURNED, ascii(callId), JSON.writeValueAsBytes(json)};
    }

    private static LinkException tooLarge(String what, int length, int limit) {
        return new LinkException(
                LinkException.Kind.REFUSED,
                "bad_request",
                "%s of %d bytes; at most %d are allowed".formatted(what, length, limit));
    }

    private static Blob blob(Verb verb) {
        return switch (verb) {
            case Verb.Execute execute -> execute.code();
            case Verb.Command command -> command.stdin();
            case Verb.Files files -> FileFrames.blob(files.operation());
            case Verb.OfServers about -> ServerFrames.blob(about);
            case Verb.Hello _,
                    Verb.Configure _,
                    Verb.Install _,
                    Verb.Attach _,
                    Verb.Detach _,
                    Verb.Interrupt _,
                    Verb.OfSession _,
                    Verb.ListAll _,
                    Verb.Metrics _ -> Blob.EMPTY;
        };
    }

    private static byte[] json(Verb verb) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        try (JsonGenerator json = JSON.createGenerator(out)) {
            json.writeStartObject();
            json.writeStringProperty("verb", verb.word());
            writeArguments(json, verb);
            json.writeEndObject();
        }
        return out.toByteArray();
    }

    private static void writeArguments(JsonGenerator json, Verb verb) {
        switch (verb) {
            case Verb.Hello hello -> {
                json.writeName("protocol").writeArray(new int[] {PROTOCOL}, 0, 1);
                json.writeStringProperty("peer", hello.peer());
                json.writeBooleanProperty("file_credit", true);
                if (!hello.calls().isEmpty()) {
                    writeList(json, "calls", hello.calls().stream().sorted().toList());
                }
            }
            case Verb.Configure configure -> writeConfigure(json, configure);
            case Verb.Execute execute -> writeExecute(json, execute);
            case Verb.Command command -> writeCommand(json, command);
            case Verb.Install install -> {
                json.writeStringProperty("execution_id", install.executionId());
                json.writeStringProperty("language", install.language());
                writeList(json, "packages", install.packages());
                writeLimits(json, install.timeout(), install.attach());
            }
            case Verb.Attach attach -> {
                json.writeStringProperty("execution_id", attach.executionId());
                json.writeNumberProperty("offset", attach.from());
            }
            case Verb.Detach detach -> json.writeStringProperty("execution_id", detach.executionId());
            case Verb.Interrupt interrupt -> json.writeStringProperty("execution_id", interrupt.executionId());
            case Verb.OfSession about -> {
                json.writeStringProperty("language", about.language());
                json.writeStringProperty("session", about.session());
            }
            case Verb.Files files -> FileFrames.write(json, files.operation());
            case Verb.OfServers about -> ServerFrames.write(json, about);
            case Verb.ListAll _, Verb.Metrics _ -> {
                // These take no arguments.
            }
        }
    }

    private static void writeConfigure(JsonGenerator json, Verb.Configure configure) {
        json.writeStringProperty("sandbox_uid", configure.sandboxUid());
        json.writeNumberProperty("incarnation", configure.incarnation());
        writeTexts(json, "env", configure.env());
        String lost = configure.lost();
        if (lost != null) {
            json.writeStringProperty("lost", lost);
        }
    }

    private static void writeTexts(JsonGenerator json, String field, Map<String, String> texts) {
        json.writeName(field).writeStartObject();
        texts.forEach(json::writeStringProperty);
        json.writeEndObject();
    }

    private static void writeCommand(JsonGenerator json, Verb.Command command) {
        json.writeStringProperty("execution_id", command.executionId());
        json.writeStringProperty("command", command.command());
        writeList(json, "args", command.args());
        if (!command.cwd().isEmpty()) {
            json.writeStringProperty("cwd", command.cwd());
        }
        if (command.shellLine()) {
            json.writeBooleanProperty("shell_line", true);
        }
        writeRun(json, command.envs(), command.timeout(), command.attach());
    }

    private static void writeList(JsonGenerator json, String field, List<String> texts) {
        json.writeName(field).writeStartArray();
        texts.forEach(json::writeString);
        json.writeEndArray();
    }

    private static void writeExecute(JsonGenerator json, Verb.Execute execute) {
        json.writeStringProperty("execution_id", execute.executionId());
        json.writeStringProperty("language", execute.language());
        json.writeStringProperty("session", execute.session());
        String label = execute.label();
        if (label != null) {
            json.writeStringProperty("label", label);
        }
        if (execute.fresh()) {
            json.writeBooleanProperty("fresh", true);
        }
        if (!execute.servers().isEmpty()) {
            writeList(json, "servers", execute.servers());
        }
        String pythonEnv = execute.pythonEnv();
        if (pythonEnv != null) {
            json.writeStringProperty("python_env", pythonEnv);
        }
        writeRun(json, execute.envs(), execute.timeout(), execute.attach());
    }

    private static void writeRun(JsonGenerator json, Map<String, String> envs, Duration timeout, boolean attach) {
        writeTexts(json, "envs", envs);
        writeLimits(json, timeout, attach);
    }

    private static void writeLimits(JsonGenerator json, Duration timeout, boolean attach) {
        json.writeNumberProperty("timeout_s", timeout.toNanos() / NANOS);
        json.writeBooleanProperty("attach", attach);
    }

    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
