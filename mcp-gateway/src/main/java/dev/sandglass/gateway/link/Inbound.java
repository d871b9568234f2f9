package dev.sandglass.gateway.link;

import tools.jackson.databind.JsonNode;

/** What a supervisor says: the messages of protocol version 1, decoded. */
sealed interface Inbound {

    /** The answer to a verb. */
    record Reply(String requestId, JsonNode json, Blob blob) implements Inbound {
        /** Not what it says. */
        @Override
        public String toString() {
            return "Reply[" + requestId + "]";
        }
    }

    /** The refusal of a verb. */
    record Refusal(String requestId, String code, String message) implements Inbound {}

    /** Output of an execution that this connection follows. */
    record Output(String executionId, OutputRecord record) implements Inbound {}

    /** Something happened to a kernel. */
    record Event(String kernel, long seq, String event) implements Inbound {}

    /** No message of the protocol: dropped and counted. */
    record Malformed(String reason) implements Inbound {}
}
