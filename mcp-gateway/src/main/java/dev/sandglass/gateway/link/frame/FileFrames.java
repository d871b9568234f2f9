package dev.sandglass.gateway.link.frame;

import tools.jackson.core.JsonGenerator;

/** The verb {@code files} on the wire. Pure. */
final class FileFrames {

    private FileFrames() {}

    static Blob blob(FileOperation operation) {
        return operation instanceof FileOperation.Write write ? write.content() : Blob.EMPTY;
    }

    static void write(JsonGenerator json, FileOperation operation) {
        json.writeStringProperty("operation", operation.word());
        json.writeStringProperty("path", operation.path());
        switch (operation) {
            case FileOperation.Read read -> {
                json.writeNumberProperty("offset", read.offset());
                json.writeNumberProperty("length", read.length());
            }
            case FileOperation.Write write -> {
                if (write.offset() != null) {
                    json.writeNumberProperty("offset", write.offset());
                }
            }
            case FileOperation.ListFolder list -> {
                json.writeBooleanProperty("recursive", list.recursive());
                json.writeNumberProperty("limit", list.limit());
            }
            case FileOperation.Move move -> json.writeStringProperty("to", move.to());
            case FileOperation.Delete delete -> json.writeBooleanProperty("recursive", delete.recursive());
            case FileOperation.MakeFolder _, FileOperation.Stat _ -> {
                // The path says it all.
            }
        }
    }
}
