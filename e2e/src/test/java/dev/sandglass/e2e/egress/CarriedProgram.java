package dev.sandglass.e2e.egress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A program of this machine that sandboxes do not have, with the libraries it needs, in a folder that can be copied.
 *
 * @param folder the program and {@code lib}
 * @param name of the program
 */
record CarriedProgram(Path folder, String name) {

    private static final Pattern LIBRARY = Pattern.compile("=> (/\\S+)");

    /** Of the C library and its parts, which must fit each other, the sandbox has newer ones. */
    private static final Pattern OF_THE_SYSTEM =
            Pattern.compile("/(?:libc|libm|libdl|librt|libpthread|libresolv)\\.so\\.\\d+$");

    /**
     * Collects one.
     *
     * @param within a folder for all that is carried; the program gets one of its name there
     * @param where a shell command that prints its path
     * @return empty if this machine does not have it
     */
    static Optional<CarriedProgram> found(Path within, String name, String where)
            throws IOException, InterruptedException {
        String path = output("sh", "-c", where).strip();
        if (path.isEmpty()) {
            return Optional.empty();
        }
        Path folder = Files.createDirectory(within.resolve(name));
        Path libraries = Files.createDirectory(folder.resolve("lib"));
        Files.copy(Path.of(path), folder.resolve(name));
        List<Path> needed = LIBRARY.matcher(output("ldd", path))
                .results()
                .map(found -> found.group(1))
                .filter(library -> !OF_THE_SYSTEM.matcher(library).find())
                .map(Path::of)
                .toList();
        for (Path library : needed) {
            Files.copy(library, libraries.resolve(library.getFileName()));
        }
        return Optional.of(new CarriedProgram(folder, name));
    }

    private static String output(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return said;
    }

    /** How it is called where it was copied to {@code /workspace}, under its own name. */
    String call() {
        return "LD_LIBRARY_PATH=/workspace/%s/lib /workspace/%s/%s".formatted(name, name, name);
    }
}
