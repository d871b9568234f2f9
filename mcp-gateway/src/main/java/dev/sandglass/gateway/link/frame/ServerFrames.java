package dev.sandglass.gateway.link.frame;

import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SecretEntry;
import java.time.Duration;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/** The verbs for MCP servers on the wire. Pure. */
final class ServerFrames {

    private static final double NANOS = 1e9;

    private ServerFrames() {}

    static Blob blob(Verb.OfServers verb) {
        return switch (verb) {
            case Verb.CallServerTool call -> call.arguments();
            case Verb.WriteFunctions write -> write.tools();
            case Verb.RegisterServer _, Verb.ListServers _, Verb.RemoveServer _ -> Blob.EMPTY;
            case Verb.ListServerTools _, Verb.CancelServerCall _ -> Blob.EMPTY;
        };
    }

    static void write(JsonGenerator json, Verb.OfServers verb) {
        switch (verb) {
            case Verb.RegisterServer register -> {
                write(json, register.registration());
                if (!register.api()) {
                    json.writeBooleanProperty("api", false);
                }
                String revision = register.revision();
                if (revision != null) {
                    json.writeStringProperty("revision", revision);
                }
            }
            case Verb.RemoveServer remove -> json.writeStringProperty("name", remove.name());
            case Verb.WriteFunctions write -> json.writeStringProperty("name", write.name());
            case Verb.ListServerTools list -> json.writeStringProperty("server", list.server());
            case Verb.CallServerTool call -> {
                json.writeStringProperty("server", call.server());
                json.writeStringProperty("tool", call.tool());
                json.writeStringProperty("call_id", call.callId());
                json.writeNumberProperty("timeout_s", seconds(call.timeout()));
                json.writeNumberProperty("at_once", call.atOnce());
            }
            case Verb.CancelServerCall cancel -> json.writeStringProperty("call_id", cancel.callId());
            case Verb.ListServers _ -> {
                // It takes no arguments.
            }
        }
    }

    private static void write(JsonGenerator json, Registration registration) {
        json.writeStringProperty("name", registration.name());
        switch (registration) {
            case Registration.Command command -> {
                json.writeStringProperty("command", command.command());
                json.writeName("args").writeStartArray();
                command.args().forEach(json::writeString);
                json.writeEndArray();
                writeTexts(json, "env", command.env());
                writeSecrets(json, "secret_env", command.secrets());
                if (!command.cwd().isEmpty()) {
                    json.writeStringProperty("cwd", command.cwd());
                }
            }
            case Registration.Url url -> {
                json.writeStringProperty("url", url.url());
                writeTexts(json, "headers", url.headers());
                writeSecrets(json, "secret_headers", url.secrets());
                json.writeStringProperty("transport", url.transport().word());
            }
        }
        json.writeNumberProperty("timeout_s", seconds(registration.timeout()));
    }

    private static void writeTexts(JsonGenerator json, String field, Map<String, String> texts) {
        json.writeName(field).writeStartObject();
        texts.forEach(json::writeStringProperty);
        json.writeEndObject();
    }

    /** Left out if there are none: supervisors of earlier releases do not know them. */
    private static void writeSecrets(JsonGenerator json, String field, Map<String, SecretEntry> entries) {
        if (entries.isEmpty()) {
            return;
        }
        json.writeName(field).writeStartObject();
        entries.forEach((name, entry) -> json.writeName(name)
                .writeStartObject()
                .writeStringProperty("secret", entry.secret())
                .writeStringProperty("key", entry.key())
                .writeEndObject());
        json.writeEndObject();
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / NANOS;
    }
}
