package dev.sandglass.testing;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Mutated messages for a decoder. In the ordinary tests a few of the same each time; {@code make soak} runs it long with
 * fresh ones. System properties: {@code sandglass.fuzz.seconds} of CPU for each decoder, {@code sandglass.fuzz.seed},
 * {@code sandglass.fuzz.folder} where findings are written, {@code sandglass.fuzz.replay} the file of one finding.
 */
public final class Fuzz {

    /** What must hold for every message. */
    @FunctionalInterface
    public interface Check {
        /** Fails by throwing anything. */
        void examine(List<byte[]> message) throws Exception;
    }

    /** Makes messages of good ones: the same dice and corpus give the same messages. */
    @FunctionalInterface
    public interface Mutation {
        /** Begins; each message is asked for once. */
        Supplier<List<byte[]>> of(RandomGenerator dice, List<List<byte[]>> corpus);
    }

    private static final int SHORT_RUN = 500;
    private static final long SEED = 20_261_121;
    private static final Duration MOST = Duration.ofSeconds(2);
    private static final Duration REPORT = Duration.ofSeconds(30);

    /** Of the clock on the wall: a decoder that waits for ever takes no CPU, and one that never ends is not heard of else. */
    private static final Duration HANG = Duration.ofMinutes(1);

    private static final HexFormat HEX = HexFormat.of();

    private final String name;
    private final Check check;
    private final long seed = Long.getLong("sandglass.fuzz.seed", SEED);
    private final AtomicLong count = new AtomicLong();
    private volatile List<byte[]> current = List.of();

    private Fuzz(String name, Check check) {
        this.name = name;
        this.check = check;
    }

    /**
     * Examines the corpus as it is, then messages made of it.
     *
     * @param mutation how messages are changed
     * @param name of the decoder, one word
     * @param corpus good messages
     * @throws AssertionError if a message does not pass, takes more than two seconds of CPU, or does not end within a
     *     minute; says which file holds it
     */
    public static void attack(Mutation mutation, String name, List<List<byte[]>> corpus, Check check)
            throws IOException {
        Fuzz fuzz = new Fuzz(name, check);
        String replay = System.getProperty("sandglass.fuzz.replay", "");
        if (!replay.isEmpty()) {
            fuzz.watched(() -> fuzz.replay(Path.of(replay)));
            return;
        }
        fuzz.watched(() -> {
            for (List<byte[]> good : corpus) {
                fuzz.examine(good);
            }
            fuzz.run(mutation.of(new SplittableRandom(fuzz.seed), corpus));
            return true;
        });
    }

    /** Works on a thread that may be left behind: none can be made to leave an endless loop. */
    private void watched(Callable<Boolean> work) throws IOException {
        FutureTask<Boolean> task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name("fuzz-" + name).start(task);
        long before = -1;
        while (true) {
            try {
                task.get(HANG.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException still) {
                if (count.get() == before) {
                    throw new AssertionError(name + " does not come to an end with the message in " + note(current));
                }
                before = count.get();
            } catch (ExecutionException failure) {
                throw failure.getCause() instanceof AssertionError found ? found : new AssertionError(failure);
            } catch (InterruptedException stopped) {
                throw new AssertionError(stopped);
            }
        }
    }

    private void run(Supplier<List<byte[]>> messages) throws IOException {
        Duration given = Duration.ofMillis(
                (long) (1000 * Double.parseDouble(System.getProperty("sandglass.fuzz.seconds", "0"))));
        long began = cpuNanos();
        long told = began;
        while (given.isZero() ? count.get() < SHORT_RUN : cpuNanos() - began < given.toNanos()) {
            examine(messages.get());
            if (cpuNanos() - told > REPORT.toNanos()) {
                told = cpuNanos();
                tell(began);
            }
        }
        if (!given.isZero()) {
            tell(began);
        }
    }

    private void tell(long began) {
        System.out.printf(
                "fuzz: Java, %s, seed %d, %d messages in %d s of CPU%n",
                name, seed, count.get(), (cpuNanos() - began) / 1_000_000_000L);
    }

    private void examine(List<byte[]> message) throws IOException {
        current = message;
        count.incrementAndGet();
        long began = cpuNanos();
        try {
            check.examine(message);
        } catch (Exception | AssertionError | StackOverflowError | OutOfMemoryError failure) {
            throw new AssertionError(name + " does not stand the message in " + note(message), failure);
        }
        Duration taken = Duration.ofNanos(cpuNanos() - began);
        if (taken.compareTo(MOST) > 0) {
            throw new AssertionError(name + " took " + taken + " for the message in " + note(message));
        }
    }

    private Path note(List<byte[]> message) throws IOException {
        Path folder = Path.of(System.getProperty("sandglass.fuzz.folder", "target/fuzz"));
        Path file = folder.resolve("java-%s-%d-%d.txt".formatted(name, seed, count.get()));
        Files.createDirectories(folder);
        return Files.write(
                        file,
                        Stream.concat(Stream.of(name), message.stream().map(HEX::formatHex))
                                .toList())
                .toAbsolutePath();
    }

    private boolean replay(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        boolean mine = lines.getFirst().equals(name);
        if (mine) {
            examine(lines.stream().skip(1).map(HEX::parseHex).toList());
        }
        return mine;
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }
}
