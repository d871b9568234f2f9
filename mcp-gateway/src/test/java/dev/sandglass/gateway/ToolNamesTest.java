package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Several contracts stand over the same use cases, so that no text outside a contract may name its tools. Strings are read
 * from the compiled classes, where those that are put together of several lines are whole.
 */
class ToolNamesTest {

    // The link's greeting has a field of the name that is left out here.
    private static final Pattern TOOL = Pattern.compile("\\bsandbox_(?!uid\\b)[a-z]");

    private static final String CONTRACT = "contract/sandglass/";

    /** Why these may. */
    private static final Set<String> ALLOWED = Set.of(
            // A browser or program that asks a port speaks no contract; links are made by ours alone.
            "port/PortGate", "port/PortEntrance", "port/message/PortProblem");

    @Test
    void onlyTheContractNamesItsTools() throws Exception {
        assertThat(naming()).allMatch(name -> name.startsWith(CONTRACT) || ALLOWED.contains(name));
    }

    /** Or an exception above stands for nothing, and the test itself sees nothing. */
    @Tag("slow")
    @Test
    void theyAreSeenWhereTheyMayBe() throws Exception {
        assertThat(naming()).containsAll(ALLOWED).contains(CONTRACT + "sandbox/NextSteps");
    }

    private static List<String> naming() throws IOException, URISyntaxException {
        URI root = GatewayApplication.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        Path folder = Path.of(root).resolve("dev/sandglass/gateway");
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .filter(ToolNamesTest::namesATool)
                    .map(file -> folder.relativize(file).toString().replaceFirst("(\\$.*)?\\.class$", ""))
                    .distinct()
                    .toList();
        }
    }

    private static boolean namesATool(Path file) {
        try {
            Iterable<PoolEntry> pool = ClassFile.of().parse(file).constantPool();
            return StreamSupport.stream(pool.spliterator(), false)
                    .anyMatch(entry -> entry instanceof Utf8Entry text
                            && TOOL.matcher(text.stringValue()).find());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
