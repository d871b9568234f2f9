import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The scenario that every client goes through, for clients written in Java; its texts are in scenario.json. A client's own
 * file says how that client connects, calls, and hands over pictures and errors.
 */
final class Scenario {

    /** A picture as the client hands it over: its own type, the kind, and the data in base64. */
    record Picture(String type, String mimeType, String base64) {}

    /** What reaches the model; {@code errorAs} says what the client makes of a failed call, empty if it did not fail. */
    record Answer(String text, List<Picture> pictures, String errorAs) {}

    /** A client that is connected. */
    interface Connected extends AutoCloseable {
        List<String> tools();

        Answer call(String tool, Map<String, Object> arguments);

        /** How many notifications of progress it has seen; below 0 if it offers no way to see them. */
        default int progress() {
            return -1;
        }

        @Override
        void close();
    }

    /** What is known of a client beforehand, and is measured here. */
    interface Client {
        String version();

        Connected connect(String url, String authorization);

        /** Its default time-out of a call. */
        int patienceS();

        /** The same in words, with the setting that changes it. */
        String patience();

        /** Whether interrupting the thread that calls ends the code. */
        boolean cancels();

        /** Reads JSON with what the client itself brings. */
        Map<String, Object> read(String json);

        /** Writes JSON likewise. */
        String write(Map<String, Object> value);
    }

    private static final Pattern READ_ON = Pattern.compile("execution_id '([^']+)' and offset (\\d+)");

    private final Client client;
    private final Map<String, Object> words;
    private final String url = System.getenv("SANDGLASS_URL");
    private final String authorization = "Bearer " + System.getenv("SANDGLASS_TOKEN");
    private final String sandbox = "try-%08x".formatted(ThreadLocalRandom.current().nextInt());
    private final Map<String, Object> seen = new LinkedHashMap<>();
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().factory());

    private Scenario(Client client, Map<String, Object> words) {
        this.client = client;
        this.words = words;
    }

    static void main(Client client, Path scenario) throws Exception {
        var run = new Scenario(client, client.read(Files.readString(scenario)));
        String failed = run.outcome();
        run.seen.put("failed", failed);
        String told = client.write(run.seen);
        System.out.println(failed + told);
        String result = System.getenv("SANDGLASS_RESULT");
        if (result != null) {
            Files.writeString(Path.of(result), told);
        }
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    private String outcome() {
        seen.put("version", client.version());
        try {
            run();
            return "";
        } catch (Exception | AssertionError problem) {
            var trace = new StringWriter();
            problem.printStackTrace(new PrintWriter(trace));
            try (Connected agent = connect()) {
                stop(agent);
            } catch (Exception | AssertionError unreachable) {
                trace.append("and the sandbox could not be deleted: ").append(unreachable.toString());
            }
            return trace.toString();
        }
    }

    private void run() throws Exception {
        try (Connected agent = connect()) {
            List<String> tools = agent.tools();
            seen.put("tools", String.valueOf(tools.size()));
            equal(tools.size(), words.get("tools"));
            equal(tools.containsAll((List<?>) words.get("core_tools")), true);
            contains(agent.call("sandbox_start", Map.of("sandbox", sandbox)).text(), "Sandbox " + sandbox + " ");
            state(agent);
            picture(agent);
            error(agent);
            longRun(agent);
            cancel(agent);
        }
        patience();
        try (Connected agent = connect()) {
            stop(agent);
        }
        seen.put("stop", "ok");
    }

    private void stop(Connected agent) {
        contains(agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true)).text(), "stopped successfully");
    }

    private void state(Connected agent) {
        python(agent, text("state", "first"), Map.of());
        equal(python(agent, text("state", "then"), Map.of()).text().strip(), text("state", "text"));
        seen.put("state", "ok");
    }

    private void picture(Connected agent) {
        Answer answer = whole(agent, text("picture", "code"));
        contains(answer.text(), text("picture", "note"));
        equal(answer.pictures().stream().map(Picture::mimeType).toList(), List.of(text("picture", "mime_type")));
        equal(answer.pictures().getFirst().base64().startsWith(text("picture", "begins_with_base64")), true);
        seen.put("picture", answer.pictures().getFirst().type());
    }

    private void error(Connected agent) {
        Answer answer = python(agent, text("error", "code"), Map.of());
        ((List<?>) section("error").get("texts")).forEach(part -> contains(answer.text(), (String) part));
        equal(answer.errorAs().isEmpty(), false);
        seen.put("error", answer.errorAs());
    }

    private void longRun(Connected agent) {
        String told = whole(agent, text("long", "code")).text();
        contains(told, text("long", "first"));
        contains(told, text("long", "last"));
        equal(agent.progress() != 0, true);
        seen.put("long", isImpatient() ? "read on with ?wait=" + section("long").get("short_wait_s") : "one call");
        seen.put("progress", agent.progress() > 0 ? agent.progress() + " notifications" : "no way to see it");
    }

    private void cancel(Connected agent) throws Exception {
        int within = number("cancel", "within_s");
        Future<Answer> running = threads.submit(() -> python(agent, text("cancel", "code"), Map.of("wait", 60)));
        equal(appears(agent, text("cancel", "begun"), 30), true);
        running.cancel(true);
        boolean reached = appears(agent, text("cancel", "ended"), within);
        if (!reached) {
            agent.call("sandbox_interrupt", Map.of("sandbox", sandbox));
            equal(appears(agent, text("cancel", "ended"), within), true);
        }
        equal(reached, client.cancels());
        seen.put("cancel", reached ? "ends the code" : "sandbox_interrupt ends the code");
    }

    private void patience() throws Exception {
        int limit = client.patienceS();
        int seconds = limit + number("too_long", "beyond_s");
        String code = text("too_long", "code").replace("{seconds}", String.valueOf(seconds));
        long begun = System.nanoTime();
        String told = "";
        Connected agent = client.connect(url, authorization);
        try {
            told = python(agent, code, Map.of("wait", seconds + 20)).text();
        } catch (RuntimeException late) {
            // What it throws differs from client to client; when it does is what counts.
        }
        double taken = (System.nanoTime() - begun) / 1e9;
        equal(told.contains(text("too_long", "last")), false);
        equal(taken >= limit - number("too_long", "early_s") && taken <= limit + number("too_long", "late_s"), true);
        boolean wentOn;
        try (Connected other = connect()) {
            wentOn = appears(other, text("too_long", "file"), 3 * number("too_long", "beyond_s") / 2);
        }
        agent.close();
        seen.put(
                "time-out",
                "%s; measured %.0f s, then the code %s"
                        .formatted(client.patience(), taken, wentOn ? "runs on" : "is interrupted"));
    }

    private Connected connect() {
        return client.connect(isImpatient() ? url + "?wait=" + section("long").get("short_wait_s") : url, authorization);
    }

    private boolean isImpatient() {
        return client.patienceS() < number("long", "needs_s");
    }

    private Answer python(Connected agent, String code, Map<String, Object> more) {
        var arguments = new HashMap<String, Object>(more);
        arguments.put("sandbox", sandbox);
        arguments.put("code", code);
        return agent.call("sandbox_run_code", arguments);
    }

    /** All of a run, whatever number of calls it takes. */
    private Answer whole(Connected agent, String code) {
        Answer answer = python(agent, code, Map.of());
        var texts = new ArrayList<>(List.of(answer.text()));
        var pictures = new ArrayList<>(answer.pictures());
        while (answer.text().startsWith("[running")) {
            Matcher found = READ_ON.matcher(answer.text());
            equal(found.find(), true);
            answer = agent.call(
                    "sandbox_get_execution",
                    Map.of("execution_id", found.group(1), "offset", Integer.parseInt(found.group(2))));
            texts.add(answer.text());
            pictures.addAll(answer.pictures());
        }
        return new Answer(String.join("\n", texts), pictures, answer.errorAs());
    }

    private boolean appears(Connected agent, String path, int withinS) throws InterruptedException {
        Map<String, Object> asked = Map.of("sandbox", sandbox, "command", "test", "args", List.of("-e", path));
        Supplier<Boolean> isThere = () -> !agent.call("sandbox_run_command", asked).text().contains("[exit code 1]");
        for (long end = System.nanoTime() + withinS * 1_000_000_000L; System.nanoTime() < end; Thread.sleep(300)) {
            if (isThere.get()) {
                return true;
            }
        }
        return false;
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> section(String name) {
        return (Map<String, Object>) words.get(name);
    }

    private String text(String section, String name) {
        return (String) section(section).get(name);
    }

    private int number(String section, String name) {
        return ((Number) section(section).get(name)).intValue();
    }

    private static void equal(Object actual, Object expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError("expected " + expected + ", got " + actual);
        }
    }

    private static void contains(String text, String part) {
        if (!text.contains(part)) {
            throw new AssertionError("expected '" + part + "' in: " + text.substring(0, Math.min(500, text.length())));
        }
    }
}
