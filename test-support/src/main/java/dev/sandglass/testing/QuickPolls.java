package dev.sandglass.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Has unit tests that wait for a condition look at it at once and then every 10 ms. Awaitility itself looks every 100 ms, and
 * first after as long: across some hundred waits that is more time than what they wait for takes. JUnit finds it as a
 * service, for the tests of every module that has test-support among its dependencies. Tests before a real API server go
 * without it (the root's pom.xml).
 */
public final class QuickPolls implements TestExecutionListener {

    private static final Duration EVERY = Duration.ofMillis(10);

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(EVERY);
    }
}
