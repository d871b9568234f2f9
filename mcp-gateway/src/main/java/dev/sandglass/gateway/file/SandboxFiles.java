package dev.sandglass.gateway.file;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.Failures;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.quota.RequestScope;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The files of sandboxes, below the workspace and mounted volumes. Failures come as {@link SandboxProblem}. Large files go in
 * pieces, so that nobody holds them.
 */
public final class SandboxFiles {

    /** Most bytes of one reading or writing. */
    public static final int MOST_BYTES = 1024 * 1024;

    /** Most entries that one list tells of. */
    public static final int MOST_ENTRIES = 10_000;

    private static final Duration PROMPT = Duration.ofSeconds(20);
    // The supervisor lists and deletes for 20 s, then says how far it came.
    private static final Duration LONG = Duration.ofSeconds(45);

    private static final Pattern ARGUMENT = Pattern.compile("([a-z_]+): ");

    // More than what is told of most.
    private static final long ENTRY_BYTES = 256;

    /** Most characters of a name: it has 255 bytes at most, and no byte is more than a character. */
    static final int MOST_NAME_CHARS = 255;

    /** More than an entry of a folder takes as JSON, where a byte of its name may be six. */
    static final int MOST_ENTRY_BYTES = 2048;

    private static final Set<String> FACTS = Set.of("path", "type", "size", "modified");

    private final Executions executions;
    private final FileTransferQueue turns = new FileTransferQueue();
    private final JsonMapper json = JsonMapper.shared();
    // Behind a value that it reads more may follow.
    private final ObjectReader pieces = json.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    /**
     * @param executions whose links lead to the sandboxes
     */
    public SandboxFiles(Executions executions) {
        this.executions = executions;
    }

    /** Reads at most {@code length} bytes from an offset. */
    public Mono<FilePage> read(RunningSandbox sandbox, String path, long offset, int length) {
        return ask(sandbox, new FileOperation.Read(path, offset, length), PROMPT)
                .map(answer -> FilePage.of(
                        offset, Math.max(0, answer.json().path("size").asLong(0)), answer.blob()));
    }

    /**
     * Writes; folders on the way are made. Takes over the content.
     *
     * @param offset where it goes, at most the file's size; null = it replaces the whole file, all or nothing
     * @return the size of the file then
     */
    public Mono<Long> write(RunningSandbox sandbox, String path, @Nullable Long offset, byte[] content) {
        return ask(sandbox, new FileOperation.Write(path, offset, Blob.of(content)), PROMPT)
                .map(answer -> answer.json().path("size").asLong(0));
    }

    /** Lists a folder; an empty path is the workspace. */
    public Mono<FileList> list(RunningSandbox sandbox, String path, boolean recursive, int limit) {
        return ask(sandbox, new FileOperation.ListFolder(path, recursive, limit), LONG)
                .map(answer -> list(answer, limit, _ -> true));
    }

    /**
     * What is in a folder, for one of several lists of one request. Nothing is kept of a sandbox that tells more than it was
     * asked for, nor an entry whose name can be none.
     *
     * @param atMost how long the sandbox has to answer
     */
    public Mono<FileList> glance(RunningSandbox sandbox, String path, int limit, Duration atMost) {
        return ask(sandbox, new FileOperation.ListFolder(path, false, limit), atMost)
                .map(answer -> {
                    if (answer.blob().length() > (long) limit * MOST_ENTRY_BYTES) {
                        throw unreadable();
                    }
                    return list(answer, limit, SandboxFiles::isName);
                })
                // A request holds one turn until its answer is written, and this is one of several.
                .contextWrite(context -> context.delete(RequestScope.class));
    }

    private FileList list(Answer answer, int limit, Predicate<String> kept) {
        return new FileList(
                entries(answer.blob(), limit, kept),
                answer.json().path("truncated").asBoolean(false));
    }

    private static boolean isName(String path) {
        return !path.isEmpty() && path.length() <= MOST_NAME_CHARS && path.indexOf('/') < 0;
    }

    /** Makes a folder and those on the way; false if it was there. */
    public Mono<Boolean> makeFolder(RunningSandbox sandbox, String path) {
        return ask(sandbox, new FileOperation.MakeFolder(path), PROMPT)
                .map(answer -> answer.json().path("created").asBoolean(true));
    }

    /** Gives a file or folder another path. */
    public Mono<Void> move(RunningSandbox sandbox, String path, String to) {
        return ask(sandbox, new FileOperation.Move(path, to), PROMPT).then();
    }

    /** Deletes a file, a link, or a folder: an empty one, or with all in it. */
    public Mono<Deleted> delete(RunningSandbox sandbox, String path, boolean recursive) {
        return ask(sandbox, new FileOperation.Delete(path, recursive), LONG)
                .map(answer -> new Deleted(
                        Math.max(0, answer.json().path("deleted").asLong(0)),
                        answer.json().path("done").asBoolean(true)));
    }

    /** Tells what a file or folder is. */
    public Mono<FileFacts> stat(RunningSandbox sandbox, String path) {
        return ask(sandbox, new FileOperation.Stat(path), PROMPT).map(answer -> FileFacts.parse(path, answer.json()));
    }

    /**
     * What a deletion came to.
     *
     * @param count files and folders that are gone
     * @param done whether that is all; else the same call goes on
     */
    public record Deleted(long count, boolean done) {}

    /**
     * Untrusted: read one by one, because {@code [{},{},…]} as a tree is thirty times as much, and no more than were asked for.
     */
    private List<FileFacts> entries(Blob listed, int limit, Predicate<String> kept) {
        var entries = new ArrayList<FileFacts>();
        try (JsonParser parser = pieces.createParser(listed.bytes())) {
            if (parser.nextToken() != JsonToken.START_ARRAY) {
                throw unreadable();
            }
            for (int count = 0; count < limit && parser.nextToken() == JsonToken.START_OBJECT; count++) {
                ObjectNode entry = entry(parser);
                String path = entry.path("path").asString("");
                if (kept.test(path)) {
                    entries.add(FileFacts.parse(path, entry));
                }
            }
            return List.copyOf(entries);
        } catch (JacksonException e) {
            throw unreadable();
        }
    }

    /** What is known of entries; whatever else stands in one is skipped. */
    private ObjectNode entry(JsonParser parser) {
        ObjectNode entry = json.createObjectNode();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            if (value != null && value.isScalarValue() && FACTS.contains(name)) {
                entry.set(name, pieces.readTree(parser));
            } else {
                parser.skipChildren();
            }
        }
        return entry;
    }

    private static SandboxProblem unreadable() {
        return new SandboxProblem.Refused("The sandbox told a list of files that cannot be read.");
    }

    private Mono<Answer> ask(RunningSandbox sandbox, FileOperation operation, Duration patience) {
        Mono<Answer> asked = Mono.fromFuture(() -> executions.link(sandbox).ask(new Verb.Files(operation), patience))
                .onErrorMap(failure -> problem(sandbox, failure));
        return switch (operation) {
            case FileOperation.Read read -> turns.take(sandbox, read.length(), asked);
            case FileOperation.Write write ->
                turns.take(sandbox, write.content().length(), asked);
            case FileOperation.ListFolder list -> turns.take(sandbox, list.limit() * ENTRY_BYTES, asked);
            case FileOperation.MakeFolder _, FileOperation.Move _, FileOperation.Delete _, FileOperation.Stat _ ->
                asked;
        };
    }

    private static Throwable problem(RunningSandbox sandbox, Throwable failure) {
        if (LinkException.unwrap(failure) instanceof LinkException why && why.kind() == LinkException.Kind.REFUSED) {
            String text = sentence(why) + ".";
            return why.isRefusal("not_found")
                    ? new SandboxProblem.NoSuchFile(text, next(why.code()))
                    : new SandboxProblem.Refused(text, next(why.code()));
        }
        return Failures.problem(sandbox, failure);
    }

    private static @Nullable NextStep next(String code) {
        return switch (code) {
            case "not_found", "not_a_folder" -> NextStep.Plain.LIST_FILES;
            case "not_supported" -> NextStep.Plain.USE_COMMAND;
            default -> null;
        };
    }

    /** Of a wrong argument the supervisor says {@code name: rule}, and the tools themselves {@code 'name': rule}. */
    private static String sentence(LinkException why) {
        Matcher argument = ARGUMENT.matcher(why.text());
        return why.isRefusal("bad_request") && argument.lookingAt()
                ? "'%s'%s".formatted(argument.group(1), why.text().substring(argument.end(1)))
                : capital(why.text());
    }

    private static String capital(String text) {
        return text.isEmpty() ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }
}
