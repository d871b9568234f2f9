package dev.sandglass.gateway.link.frame;

import org.jspecify.annotations.Nullable;

/**
 * What may be asked about a file or folder of a sandbox. A relative path is one of the workspace, an absolute one must be
 * below it or below a mounted volume; the supervisor sees to that.
 */
public sealed interface FileOperation {

    /** The word on the wire. */
    String word();

    /** What it is about. */
    String path();

    /**
     * Reads a part of a file; the answer's bytes are what was read.
     *
     * @param path see {@link FileOperation}
     * @param offset the first byte
     * @param length most bytes, at most 1 MiB
     */
    record Read(String path, long offset, int length) implements FileOperation {
        @Override
        public String word() {
            return "read";
        }
    }

    /**
     * Writes a file; folders on the way are made.
     *
     * @param path see {@link FileOperation}
     * @param offset where the content goes, at most the file's size; null = it replaces the whole file, all or nothing
     * @param content at most 1 MiB
     */
    record Write(String path, @Nullable Long offset, Blob content) implements FileOperation {
        @Override
        public String word() {
            return "write";
        }
    }

    /**
     * Lists a folder; the answer's bytes are a JSON array.
     *
     * @param path see {@link FileOperation}; empty = the workspace
     * @param recursive with all that is below
     * @param limit most entries, at most 10,000
     */
    record ListFolder(String path, boolean recursive, int limit) implements FileOperation {
        @Override
        public String word() {
            return "list";
        }
    }

    /**
     * Makes a folder and those on the way to it.
     *
     * @param path see {@link FileOperation}
     */
    record MakeFolder(String path) implements FileOperation {
        @Override
        public String word() {
            return "mkdir";
        }
    }

    /**
     * Gives a file or folder another path; one that is taken is refused.
     *
     * @param path see {@link FileOperation}
     * @param to the new path, whole
     */
    record Move(String path, String to) implements FileOperation {
        @Override
        public String word() {
            return "move";
        }
    }

    /**
     * Deletes a file, a link or a folder.
     *
     * @param path see {@link FileOperation}
     * @param recursive with all that is in the folder; else it must be empty
     */
    record Delete(String path, boolean recursive) implements FileOperation {
        @Override
        public String word() {
            return "delete";
        }
    }

    /**
     * Asks what a file or folder is.
     *
     * @param path see {@link FileOperation}
     */
    record Stat(String path) implements FileOperation {
        @Override
        public String word() {
            return "stat";
        }
    }
}
