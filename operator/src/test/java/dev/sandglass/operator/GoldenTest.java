package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * One folder per situation: {@code in-*.yaml} is what the operator sees, {@code out-*.yaml} what it makes and says. With
 * {@code -Dsandglass.generate=true} the latter are written instead of compared.
 */
class GoldenTest {

    private static final Path FOLDERS = Path.of("src/test/resources/golden");

    @TestFactory
    Stream<DynamicTest> everySituationEndsAsWritten() throws IOException {
        try (Stream<Path> folders = Files.list(FOLDERS)) {
            return folders.sorted().toList().stream()
                    .map(folder -> DynamicTest.dynamicTest(folder.getFileName().toString(), () -> check(folder)));
        }
    }

    /** What a folder holds. */
    interface Golden {

        /** Names of the files that were read. */
        Set<String> filesRead();

        /** What comes of them, by file name. */
        Map<String, String> results();
    }

    private static void check(Path folder) throws IOException {
        Golden situation =
                Files.exists(folder.resolve(PoolSituation.POOL)) ? PoolSituation.read(folder) : Situation.read(folder);
        Map<String, String> results = situation.results();
        if (Boolean.getBoolean("sandglass.generate")) {
            for (String stale : files(folder, "out-")) {
                Files.delete(folder.resolve(stale));
            }
            for (Map.Entry<String, String> result : results.entrySet()) {
                Files.writeString(folder.resolve(result.getKey()), result.getValue());
            }
        }
        assertThat(files(folder, ""))
                .as("files of %s: those it reads and those it makes (make generate)", folder)
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(situation.filesRead().stream(), results.keySet().stream())
                                .toList());
        for (Map.Entry<String, String> result : results.entrySet()) {
            assertThat(Files.readString(folder.resolve(result.getKey())))
                    .as("%s/%s; if the change is meant, run: make generate", folder, result.getKey())
                    .isEqualTo(result.getValue());
        }
    }

    private static Set<String> files(Path folder, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
