package dev.sandglass.gateway;

import dev.sandglass.gateway.link.call.DrainableCalls;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * On the way down, takes no more calls of pods and waits until those under way are answered. It does so in the phase of the
 * web server's graceful shutdown, whose timeout bounds both.
 */
final class PodCallsLifecycle implements SmartLifecycle {

    private final DrainableCalls calls;
    private volatile boolean running;

    PodCallsLifecycle(DrainableCalls calls) {
        this.calls = calls;
    }

    @Override
    public int getPhase() {
        return WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable stopped) {
        var _ = calls.drain().whenComplete((_, _) -> {
            running = false;
            stopped.run();
        });
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
