package dev.sandglass.gateway.link.frame;

import dev.sandglass.gateway.sandbox.NextStep;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the gateway makes of a supervisor's message, in the JSON of the recorded frames. */
public final class Meaning {

    private static final JsonMapper JSON = JsonMapper.shared();

    private Meaning() {}

    public static JsonNode of(Inbound message) {
        Map<String, @Nullable Object> said =
                switch (message) {
                    case Inbound.Reply reply ->
                        fields(
                                "reply",
                                "request_id",
                                reply.requestId(),
                                "json",
                                reply.json(),
                                "blob",
                                shown(reply.blob()));
                    case Inbound.Refusal refusal ->
                        fields(
                                "refusal",
                                "request_id",
                                refusal.requestId(),
                                "code",
                                refusal.code(),
                                "text",
                                refusal.message());
                    case Inbound.Event event ->
                        fields("event", "kernel", event.kernel(), "seq", event.seq(), "event", event.event());
                    case Inbound.Call call -> call(call);
                    case Inbound.Withdrawal withdrawal -> fields("withdrawal", "call_id", withdrawal.callId());
                    case Inbound.Malformed malformed -> fields("malformed", "reason", malformed.reason());
                    case Inbound.Output output -> output(output);
                };
        // As it is when read from a file: whole numbers have the type that their size asks for.
        return JSON.readTree(JSON.writeValueAsBytes(said));
    }

    private static Map<String, @Nullable Object> fields(String message, @Nullable Object... namesAndValues) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("message", message);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return fields;
    }

    private static Map<String, @Nullable Object> call(Inbound.Call call) {
        Map<String, @Nullable Object> said = fields("call", "call_id", call.callId(), "kind", call.kind());
        said.put("execution_id", call.executionId());
        said.put("json", call.arguments());
        said.put("blob", shown(call.blob()));
        return said;
    }

    private static Map<String, @Nullable Object> output(Inbound.Output output) {
        OutputRecord record = output.record();
        Map<String, @Nullable Object> said =
                fields("output", "execution_id", output.executionId(), "offset", record.offset(), "end", record.end());
        switch (record) {
            case OutputRecord.Text text -> {
                said.put("kind", text.stream().name().toLowerCase(Locale.ROOT));
                said.put("blob", shown(text.utf8()));
            }
            case OutputRecord.Shown shown -> {
                said.put("kind", shown.result() ? "result" : "display");
                said.put("mime", shown.mime());
                said.put("blob", shown(shown.content()));
                said.put("original", shown.original());
                said.put("display", shown.display());
            }
            case OutputRecord.Raised raised -> {
                said.put("kind", "error");
                said.put("name", raised.name());
                said.put("text", raised.message());
                said.put("blob", shown(raised.traceback()));
            }
            case OutputRecord.Cleared cleared -> {
                said.put("kind", "display");
                said.put("wait", cleared.later());
            }
            case OutputRecord.Gap _ -> said.put("kind", "gap");
            case OutputRecord.Outcome outcome -> putOutcome(said, outcome);
        }
        return said;
    }

    private static void putOutcome(Map<String, @Nullable Object> said, OutputRecord.Outcome outcome) {
        said.put("kind", "outcome");
        said.put("status", outcome.status());
        said.put("duration_ms", outcome.durationMs());
        said.put("exit_code", outcome.exitCode());
        said.put("signal", outcome.signal());
        said.put("kernel_restarted", outcome.kernelRestarted());
        said.put("text", outcome.message());
        said.put("hint", hint(outcome.next()));
        said.put("truncated", outcome.truncated());
    }

    private static @Nullable Map<String, Object> hint(@Nullable NextStep next) {
        return switch (next) {
            case null -> null;
            case NextStep.Plain plain -> Map.of("kind", plain.name().toLowerCase(Locale.ROOT));
            case NextStep.RunCommand(NextStep.RunCommand.Purpose purpose, String line) ->
                Map.of("kind", purpose.name().toLowerCase(Locale.ROOT), "line", line);
            case NextStep.AllowHosts(List<String> hosts) -> Map.of("kind", "allow_hosts", "hosts", hosts);
            case NextStep.FreeCapacity _ -> throw new IllegalArgumentException("A supervisor knows no other sandbox");
        };
    }

    private static String shown(Blob blob) {
        return RecordedFrames.shown(blob.bytes());
    }
}
