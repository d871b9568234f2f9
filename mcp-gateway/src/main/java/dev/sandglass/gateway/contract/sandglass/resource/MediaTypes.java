package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.gateway.contract.Resources;
import dev.sandglass.gateway.file.FilePage;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What a file is: its content decides whether it is text, its name which text. Pure. */
final class MediaTypes {

    private static final String PLAIN = "text/plain";
    private static final String PDF = "application/pdf";
    private static final String BYTES = "application/octet-stream";

    private static final Map<String, String> TEXTS = Map.ofEntries(
            Map.entry("txt", PLAIN),
            Map.entry("log", PLAIN),
            Map.entry("md", "text/markdown"),
            Map.entry("csv", "text/csv"),
            Map.entry("tsv", "text/tab-separated-values"),
            Map.entry("html", "text/html"),
            Map.entry("htm", "text/html"),
            Map.entry("css", "text/css"),
            Map.entry("js", "text/javascript"),
            Map.entry("mjs", "text/javascript"),
            Map.entry("py", "text/x-python"),
            Map.entry("json", "application/json"),
            Map.entry("ipynb", "application/x-ipynb+json"),
            Map.entry("jsonl", "application/jsonl"),
            Map.entry("xml", "application/xml"),
            Map.entry("yaml", "application/yaml"),
            Map.entry("yml", "application/yaml"),
            Map.entry("svg", "image/svg+xml"));

    private static final Map<String, String> BINARIES = Map.ofEntries(
            Map.entry("png", "image/png"),
            Map.entry("jpg", "image/jpeg"),
            Map.entry("jpeg", "image/jpeg"),
            Map.entry("gif", "image/gif"),
            Map.entry("webp", "image/webp"),
            Map.entry("pdf", PDF),
            Map.entry("zip", "application/zip"),
            Map.entry("gz", "application/gzip"),
            Map.entry("tar", "application/x-tar"),
            Map.entry("parquet", "application/vnd.apache.parquet"),
            Map.entry("wav", "audio/wav"),
            Map.entry("mp3", "audio/mpeg"),
            Map.entry("mp4", "video/mp4"));

    private MediaTypes() {}

    /** What a name promises; empty if it promises nothing. */
    static Optional<String> promised(String path) {
        String ending = ending(path);
        return Optional.ofNullable(TEXTS.get(ending)).or(() -> Optional.ofNullable(BINARIES.get(ending)));
    }

    /** A whole file as a resource. A picture or a document is what its first bytes say, whatever its name. */
    static Resources.Content content(String path, FilePage file) {
        Optional<String> shown = file.pictureType().or(() -> Optional.of(PDF).filter(_ -> file.isPdf()));
        if (shown.isEmpty()
                && file.text() instanceof FilePage.Text.Some(String text, long _)
                && text.indexOf('\0') < 0) {
            return new Resources.Content.Text(TEXTS.getOrDefault(ending(path), PLAIN), text);
        }
        return new Resources.Content.Blob(shown.orElseGet(() -> binary(ending(path))), file.base64());
    }

    /** A name that promises a picture or a document does not make one of other bytes. */
    private static String binary(String ending) {
        String promised = BINARIES.getOrDefault(ending, BYTES);
        return promised.startsWith("image/") || promised.equals(PDF) ? BYTES : promised;
    }

    private static String ending(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        int dot = name.lastIndexOf('.');
        return dot > 0 ? name.substring(dot + 1).toLowerCase(Locale.ROOT) : "";
    }
}
