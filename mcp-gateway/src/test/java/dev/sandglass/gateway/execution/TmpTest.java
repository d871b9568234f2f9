package dev.sandglass.gateway.execution;

import org.junit.jupiter.api.Test;

class TmpTest extends LiveSandbox {
    @Test
    void t() throws Exception {
        for (int i = 0; i < 40; i++) {
            long t = System.nanoTime();
            try (Replica r = new Replica()) {
                var f = r.begin(sandbox, Replica.code("1", Replica.PATIENT));
                while (r.links.stats().open() != 1 && System.nanoTime() - t < 5_000_000_000L) {
                    Thread.sleep(1);
                }
                System.out.println("FIG open " + (System.nanoTime() - t) / 1000000 + " " + r.links.stats() + " " + f.isDone());
            }
        }
    }
}
