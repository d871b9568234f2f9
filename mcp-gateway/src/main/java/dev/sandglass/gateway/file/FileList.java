package dev.sandglass.gateway.file;

import java.util.List;

/**
 * A folder's content.
 *
 * @param entries in the order of their paths
 * @param truncated there is more than this tells of
 */
public record FileList(List<FileFacts> entries, boolean truncated) {

    /** Copies the list. */
    public FileList {
        entries = List.copyOf(entries);
    }
}
