package dev.sandglass.gateway.link.frame;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** A supervisor's messages as frames, for tests. */
public final class SupervisorFrames {

    private SupervisorFrames() {}

    public static List<byte[]> reply(String requestId, String json) {
        return List.of(bytes("R"), bytes(requestId), bytes(json));
    }

    public static List<byte[]> content(String requestId, int bytes) {
        return List.of(bytes("R"), bytes(requestId), bytes("{}"), new byte[bytes]);
    }

    public static List<byte[]> refusal(String requestId, String code, String message) {
        return reply(requestId, "{\"error\":{\"code\":\"" + code + "\",\"message\":\"" + message + "\"}}");
    }

    public static List<byte[]> hello(String requestId, String uid, String bootId) {
        return reply(requestId, """
                {"protocol":1,"boot_id":"%s","sandbox_uid":"%s","incarnation":"1","supervisor":"0","window":262144,\
                "limits":{},"kernels":[]}""".formatted(bootId, uid));
    }

    /** The answer of a seat that is configured for that, in JSON. */
    public static List<byte[]> seatHello(String requestId, String seat, String bootId, String configuredFor) {
        return reply(requestId, """
                {"protocol":1,"boot_id":"%s","sandbox_uid":"%s","incarnation":"0","supervisor":"0","window":262144,\
                "limits":{},"kernels":[],"seat":{"configured_for":%s}}""".formatted(bootId, seat, configuredFor));
    }

    public static List<byte[]> output(String executionId, long offset, String kind, String json, byte[] blob) {
        return List.of(bytes("O"), bytes(executionId), bytes(Long.toString(offset)), bytes(kind), bytes(json), blob);
    }

    public static List<byte[]> stdout(String executionId, long offset, String text) {
        return output(executionId, offset, "stdout", "{}", bytes(text));
    }

    public static List<byte[]> outcome(String executionId, long offset, String status) {
        return output(executionId, offset, "outcome", """
                {"status":"%s","duration_ms":12.3,"exit_code":null,"signal":null,"execution_count":1,\
                "kernel_restarted":false,"message":"","truncated":false}""".formatted(status), new byte[0]);
    }

    public static List<byte[]> event(String kernel, long seq, String event) {
        return List.of(bytes("E"), bytes(kernel), bytes(Long.toString(seq)), bytes("{\"event\":\"" + event + "\"}"));
    }

    /** A call that the pod makes in the name of the execution {@code e-1}. */
    public static List<byte[]> call(String callId, String kind) {
        return List.of(bytes("T"), bytes(callId), bytes("""
                {"kind":"%s","execution_id":"e-1","arguments":{"name":"é"}}""".formatted(kind)));
    }

    public static List<byte[]> withdrawal(String callId) {
        return List.of(bytes("X"), bytes(callId));
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
