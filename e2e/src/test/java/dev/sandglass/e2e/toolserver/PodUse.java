package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Kubectl;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the pod of a sandbox holds, seen from within by an administrator.
 *
 * @param sandbox whose pod it is
 */
record PodUse(Kubectl kubectl, String sandbox) {

    /** It has some 25 MiB by itself. */
    private static final long SUPERVISOR_MIB = 96;

    private static final long DISK_MIB = 64;
    private static final long KIB = 1024;
    private static final Pattern PEAK = Pattern.compile("VmHWM:\\s+(\\d+) kB");

    /** The most memory that the supervisor, process 1, ever had, and what the folders have that can be written to. */
    void isBounded() {
        Matcher peak = PEAK.matcher(kubectl.in(sandbox, "cat", "/proc/1/status"));
        assertThat(peak.find()).isTrue();
        assertThat(Long.parseLong(peak.group(1)) / KIB)
                .as("MiB of the supervisor in the pod of " + sandbox)
                .isLessThan(SUPERVISOR_MIB);
        String used = kubectl.in(sandbox, "sh", "-c", "du -skc /workspace /tmp 2>/dev/null | tail -n 1 | cut -f 1");
        assertThat(Long.parseLong(used.strip()) / KIB)
                .as("MiB of disk in the pod of " + sandbox)
                .isLessThan(DISK_MIB);
    }

    /** Its supervisor's log, which has what it always has. */
    String log() {
        String log = kubectl.run("logs", kubectl.field(sandbox, ".status.podName"));
        assertThat(log).contains("serving");
        return log;
    }
}
