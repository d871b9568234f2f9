package dev.sandglass.gateway.action;

import dev.sandglass.gateway.file.FileFacts;
import dev.sandglass.gateway.file.FileList;
import dev.sandglass.gateway.file.FilePage;
import dev.sandglass.gateway.file.SandboxFiles;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads, writes, lists and manages the files of a sandbox; a suspended one is resumed for it. A path is relative to the
 * workspace, or absolute; how long it may be the sandbox itself says.
 */
public final class FileActions {

    private final ReadySandboxes ready;
    private final SandboxFiles files;

    FileActions(ReadySandboxes ready, SandboxFiles files) {
        this.ready = ready;
        this.files = files;
    }

    /**
     * A part of a file.
     *
     * @param length most bytes of it
     */
    public record Part(String path, long offset, int length) {}

    /** Reads a part of a file. */
    public Mono<Used<FilePage>> read(SandboxRef ref, Part part, Patience patience) {
        return ready.use(ref, patience, sandbox -> read(sandbox, part));
    }

    /** The same, but a picture is read whole when its beginning is asked for. */
    public Mono<Used<FileContent>> view(SandboxRef ref, Part part, Patience patience) {
        return ready.use(ref, patience, sandbox -> read(sandbox, part).flatMap(page -> view(sandbox, part, page)));
    }

    private Mono<FileContent> view(RunningSandbox sandbox, Part part, FilePage page) {
        if (page.pictureType().isEmpty()) {
            return Mono.just(new FileContent.Page(page));
        }
        if (page.size() > SandboxFiles.MOST_BYTES) {
            return Mono.just(new FileContent.LargePicture(page.size()));
        }
        return (page.isWhole() ? Mono.just(page) : files.read(sandbox, part.path(), 0, SandboxFiles.MOST_BYTES))
                .map(FileContent.Picture::new);
    }

    private Mono<FilePage> read(RunningSandbox sandbox, Part part) {
        return files.read(sandbox, part.path(), part.offset(), part.length());
    }

    /**
     * Writes; folders on the way are made. Takes over the content.
     *
     * @param offset where it goes; null = it replaces the whole file, all or nothing
     * @return the size of the file then
     */
    public Mono<Used<Long>> write(
            SandboxRef ref, String path, @Nullable Long offset, byte[] content, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.write(sandbox, path, offset, content));
    }

    /** Lists a folder; an empty path is the workspace. */
    public Mono<Used<FileList>> list(SandboxRef ref, String path, boolean recursive, int limit, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.list(sandbox, path, recursive, limit));
    }

    /** Makes a folder and those on the way; false if it was there. */
    public Mono<Used<Boolean>> makeFolder(SandboxRef ref, String path, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.makeFolder(sandbox, path));
    }

    /** Gives a file or folder another path, which it returns. */
    public Mono<Used<String>> move(SandboxRef ref, String path, String to, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.move(sandbox, path, to).thenReturn(to));
    }

    /** Deletes a file, a link, or a folder: an empty one, or with all in it. */
    public Mono<Used<SandboxFiles.Deleted>> delete(SandboxRef ref, String path, boolean recursive, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.delete(sandbox, path, recursive));
    }

    /** Finds out what a file or folder is. */
    public Mono<Used<FileFacts>> stat(SandboxRef ref, String path, Patience patience) {
        return ready.use(ref, patience, sandbox -> files.stat(sandbox, path));
    }
}
