package dev.sandglass.gateway.caller;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * API keys in a mounted Secret: one file per key, named after it, holding
 * {@code {"sha256": "<hex>", "tenants": ["default"]}}. The folder is watched; the kubelet swaps its content by renaming
 * the link {@code ..data}, which is one event. A file that cannot be read disables that key only.
 */
public final class ApiKeyFolder implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ApiKeyFolder.class);
    private static final long MAX_FILE_BYTES = 65_536;

    private final Path folder;
    private final JsonMapper json = JsonMapper.shared();
    private final ApiKeys keys = new ApiKeys(List.of());
    private final WatchService watch;

    private ApiKeyFolder(Path folder, WatchService watch) {
        this.folder = folder;
        this.watch = watch;
    }

    /**
     * Reads the folder and keeps watching it until closed.
     *
     * @throws UncheckedIOException if the folder is not there or cannot be watched
     */
    public static ApiKeyFolder open(Path folder) {
        try {
            WatchService watch = folder.getFileSystem().newWatchService();
            var opened = new ApiKeyFolder(folder, watch);
            folder.register(
                    watch,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_MODIFY,
                    StandardWatchEventKinds.ENTRY_DELETE);
            opened.reload();
            Thread.ofVirtual().name("api-keys").start(opened::follow);
            return opened;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the folder of API keys " + folder, e);
        }
    }

    /** The keys as they stand; the same object for the folder's whole life. */
    public ApiKeys keys() {
        return keys;
    }

    @Override
    public void close() throws IOException {
        watch.close();
    }

    private void follow() {
        try {
            while (true) {
                WatchKey changed = watch.take();
                changed.pollEvents();
                reload();
                if (!changed.reset()) {
                    LOG.atError().addKeyValue("folder", folder).log("API key folder is gone, keeping the last keys");
                    return;
                }
            }
        } catch (ClosedWatchServiceException closed) {
            LOG.debug("API keys no longer watched");
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void reload() {
        var read = new ArrayList<ApiKey>();
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(file -> !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .forEach(file -> add(file, read));
        } catch (IOException | UncheckedIOException e) {
            LOG.atError().addKeyValue("folder", folder).setCause(e).log("API keys not read, keeping the last ones");
            return;
        }
        keys.replace(read);
        LOG.atInfo()
                .addKeyValue("folder", folder)
                .addKeyValue("keys", read.size())
                .log("API keys read");
    }

    private void add(Path file, List<ApiKey> read) {
        String name = file.getFileName().toString();
        try {
            if (!Files.isRegularFile(file) || Files.size(file) > MAX_FILE_BYTES) {
                throw new IllegalArgumentException("not a file of at most " + MAX_FILE_BYTES + " bytes");
            }
            JsonNode content = json.readTree(Files.readAllBytes(file));
            List<String> tenants = content.path("tenants").values().stream()
                    .map(JsonNode::asString)
                    .toList();
            read.add(ApiKey.of(name, content.path("sha256").asString(), tenants));
        } catch (IOException | JacksonException | IllegalArgumentException e) {
            // The exception's text could quote the file, so only its kind is told.
            LOG.atWarn()
                    .addKeyValue("key", name)
                    .addKeyValue("cause", e.getClass().getSimpleName())
                    .log("API key ignored: its file must hold sha256 (64 hexadecimal digits) and tenants (a list)");
        }
    }
}
