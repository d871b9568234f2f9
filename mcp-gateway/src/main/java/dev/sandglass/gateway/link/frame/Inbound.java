package dev.sandglass.gateway.link.frame;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What a supervisor says: the messages of protocol version 1, decoded. */
public sealed interface Inbound {

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

    /**
     * The pod asks something of this gateway, in the name of an execution. Whether it may is not decided yet.
     *
     * @param kind what is asked for
     */
    record Call(String callId, String kind, String executionId, ObjectNode arguments, Blob blob) implements Inbound {
        /** Not what it says. */
        @Override
        public String toString() {
            return "Call[" + callId + ", " + kind + "]";
        }
    }

    /** The pod waits no more for the answer to a call. */
    record Withdrawal(String callId) implements Inbound {}

    /** No message of the protocol: dropped and counted. */
    record Malformed(String reason) implements Inbound {}
}
