package dev.sandglass.gateway.action;

import dev.sandglass.gateway.file.FilePage;

/** What of a file is there to be seen. */
public sealed interface FileContent {

    /** The page that was asked for, of a file that is no picture. */
    record Page(FilePage page) implements FileContent {}

    /** The whole of a picture, unless it changed while it was read: then the page is no picture, or not whole. */
    record Picture(FilePage page) implements FileContent {}

    /**
     * A picture of more bytes than are read at once.
     *
     * @param size in bytes
     */
    record LargePicture(long size) implements FileContent {}
}
