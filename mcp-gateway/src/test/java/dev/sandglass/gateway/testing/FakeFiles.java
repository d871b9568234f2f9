package dev.sandglass.gateway.testing;

import dev.sandglass.gateway.link.Refusals;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.FileOperation;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Files in memory, by the path that callers give; folders are not known. */
public final class FakeFiles {

    /** What was asked for, in order. */
    public final List<FileOperation> asked = new CopyOnWriteArrayList<>();

    private final Map<String, byte[]> files = new ConcurrentSkipListMap<>();
    private final JsonMapper json = JsonMapper.shared();
    private volatile @Nullable Answer next;

    /** Puts a file there. */
    public void put(String path, byte[] content) {
        files.put(path, content);
    }

    /** Puts a text there. */
    public void put(String path, String content) {
        put(path, content.getBytes(StandardCharsets.UTF_8));
    }

    /** What is in a file. */
    public byte[] get(String path) {
        byte[] content = files.get(path);
        if (content == null) {
            throw Refusals.of("not_found", "there is no file or folder '" + path + "'");
        }
        return content;
    }

    /** The next question is answered so, whatever it is. */
    public void answerNext(String text, byte[] blob) {
        next = new Answer(json.readTree(text), Blob.of(blob));
    }

    Answer answer(FileOperation operation) {
        asked.add(operation);
        Answer given = next;
        if (given != null) {
            next = null;
            return given;
        }
        return switch (operation) {
            case FileOperation.Read read -> read(read);
            case FileOperation.Write write -> write(write);
            case FileOperation.ListFolder list -> list();
            case FileOperation.MakeFolder make -> answer("{\"created\":true}");
            case FileOperation.Move move -> {
                put(move.to(), get(move.path()));
                files.remove(move.path());
                yield answer("{}");
            }
            case FileOperation.Delete delete -> {
                get(delete.path());
                files.remove(delete.path());
                yield answer("{\"deleted\":1,\"done\":true}");
            }
            case FileOperation.Stat stat ->
                answer("{\"type\":\"file\",\"size\":%d,\"modified\":1.5,\"mode\":\"0644\",\"target\":null}"
                        .formatted(get(stat.path()).length));
        };
    }

    private Answer read(FileOperation.Read read) {
        byte[] all = get(read.path());
        int from = (int) Math.min(all.length, read.offset());
        byte[] part = Arrays.copyOfRange(all, from, Math.min(all.length, from + read.length()));
        return new Answer(json.readTree("{\"size\":%d}".formatted(all.length)), Blob.of(part));
    }

    private Answer write(FileOperation.Write write) {
        byte[] content = write.content().bytes();
        Long offset = write.offset();
        if (offset != null) {
            byte[] all = get(write.path());
            byte[] longer = Arrays.copyOf(all, Math.max(all.length, offset.intValue() + content.length));
            System.arraycopy(content, 0, longer, offset.intValue(), content.length);
            content = longer;
        }
        put(write.path(), content);
        return answer("{\"bytes\":%d,\"size\":%d}".formatted(write.content().length(), content.length));
    }

    private Answer list() {
        var entries = json.createArrayNode();
        files.forEach((path, content) -> entries.addObject()
                .put("path", path)
                .put("type", "file")
                .put("size", content.length)
                .put("modified", 1.5));
        return new Answer(json.readTree("{\"truncated\":false}"), Blob.utf8(entries.toString()));
    }

    private Answer answer(String text) {
        return new Answer(json.readTree(text), Blob.EMPTY);
    }
}
