package dev.sandglass.gateway.mcp;

import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.web.reactive.function.server.ServerRequest;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.Connection;

/**
 * The event loop of a request's connection. Answers are rendered there: they come on the link's one thread, which must not
 * be kept, and the server would hop to the event loop anyway to write them, so that this costs no hop more.
 */
final class ConnectionThread {

    private ConnectionThread() {}

    static Scheduler of(ServerRequest http) {
        Object request =
                ServerHttpRequestDecorator.getNativeRequest(http.exchange().getRequest());
        return request instanceof Connection connection
                ? Schedulers.fromExecutor(connection.channel().eventLoop())
                : Schedulers.parallel();
    }
}
