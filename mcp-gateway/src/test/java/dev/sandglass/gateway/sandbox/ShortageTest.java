package dev.sandglass.gateway.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages of the scheduler of Kubernetes 1.24 to 1.36, of kubelets, and invented ones. */
class ShortageTest {

    private static final String VICTIMS =
            " preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    private static final String UNHELPFUL =
            " preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0/3 nodes are available: 3 Insufficient memory. | memory",
                "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. | CPU and memory",
                "0/1 nodes are available: 1 Too many pods. | pod slots",
                "0/1 nodes are available: 1 Insufficient pods, 1 Too many pods | pod slots",
                "0/1 nodes are available: 1 Insufficient ephemeral-storage. | disk",
                "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. | nvidia.com/gpu",
                "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: }. | CPU",
                "Node n rejected the pod (OutOfcpu): Node didn't have enough resource: cpu, requested: 1000 | CPU"
            })
    void aMessageThatNamesScarceResourcesIsFull(String message, String scarce) {
        assertThat(Shortage.of(message).text()).isEqualTo("No node has enough free " + scarce + " for it");
        assertThat(Shortage.of(message + VICTIMS)).isEqualTo(Shortage.of(message));
        assertThat(Shortage.of(message + " no new claims to deallocate," + VICTIMS))
                .isEqualTo(Shortage.of(message));
    }

    @Test
    void aPodThatPreemptionCannotHelpIsTooLargeUnlessOnlyPodSlotsAreScarce() {
        assertThat(Shortage.of("0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods." + UNHELPFUL)
                        .text())
                .isEqualTo("No node is large enough for it, even without other pods: it requests too much CPU");
        assertThat(Shortage.of("0/1 nodes are available: 1 Too many pods." + UNHELPFUL))
                .isInstanceOf(Shortage.Full.class);
    }

    @Test
    void aPodThatPreemptionCannotHelpOnSomeNodesIsFull() {
        assertThat(Shortage.of("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {a: }."
                        + " preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod,"
                        + " 1 Preemption is not helpful for scheduling."))
                .isInstanceOf(Shortage.Full.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
                "no nodes available to schedule pods",
                "Insufficiently described",
                "Kein Knoten hat genug Speicher \uD83D\uDE00"
            })
    void aMessageThatNamesNoResourceKeepsItsWordsWithoutPreemption(String message) {
        String bare = message.endsWith(".") ? message.substring(0, message.length() - 1) : message;

        assertThat(Shortage.of(message + UNHELPFUL)).isEqualTo(new Shortage.Other(bare));
    }

    @Test
    void aMessageAboutPreemptionAloneGivesNoReason() {
        assertThat(Shortage.of(UNHELPFUL).text()).isEqualTo("no reason given");
        assertThat(Shortage.of("").text()).isEqualTo("no reason given");
    }

    @Test
    void aHostileMessageBecomesOneShortVisibleLine() {
        String text = Shortage.of("a\u202eb\nc" + "\ud83d\ude00".repeat(1_000)).text();

        assertThat(text).startsWith("ab c").hasSizeLessThan(310).doesNotContain("\n", "\u202e");
        assertThat(Shortage.of("1 Insufficient " + "x".repeat(10_000)).text()).hasSizeLessThan(120);
    }

    @Test
    void aLongMessageNamesFiveResourcesAtMostAndIsReadWithinSeconds() {
        StringBuilder message = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            message.append(i).append(" Insufficient example.com/").append(i).append(", ");
        }

        assertTimeoutPreemptively(Duration.ofSeconds(5), () -> {
            assertThat(Shortage.of(message.toString()))
                    .isInstanceOfSatisfying(Shortage.Full.class, full -> assertThat(full.resources())
                            .hasSize(5));
            Shortage.of("Insufficient " + "a.".repeat(500_000));
        });
    }
}
