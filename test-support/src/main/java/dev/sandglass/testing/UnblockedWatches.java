package dev.sandglass.testing;

import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.CustomResourceAware;
import io.fabric8.mockwebserver.http.Dispatcher;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Answers as another dispatcher does, and keeps its watches from blocking the mock server. When a client closes a watch, the
 * mock's only event loop waits for the thread that sends the watch's events; and a thread that sends an event waits for the
 * event loop. If an event is on its way then, the whole server stands still for half a minute and cannot be closed either.
 * So here the mock's thread only hands the event to another one.
 */
final class UnblockedWatches<D extends Dispatcher & CustomResourceAware> extends Dispatcher
        implements CustomResourceAware {

    private final D manner;

    UnblockedWatches(D manner) {
        this.manner = manner;
    }

    @Override
    public MockResponse dispatch(RecordedRequest request) {
        MockResponse response = manner.dispatch(request);
        WebSocketListener watch = response.getWebSocketListener();
        return watch == null ? response : response.withWebSocketUpgrade(new Watch(watch));
    }

    @Override
    public void shutdown() {
        manner.shutdown();
    }

    @Override
    public void releaseResources() {
        manner.releaseResources();
    }

    @Override
    public void expectCustomResource(CustomResourceDefinitionContext kind) {
        manner.expectCustomResource(kind);
    }

    /** A watch of the mock, which sends one after the other by way of threads that nobody waits for. */
    private static final class Watch extends WebSocketListener {

        private final WebSocketListener mocks;
        private final Consumer<Runnable> queue = this::queue;
        private CompletableFuture<?> last = CompletableFuture.completedFuture("nothing sent");

        private Watch(WebSocketListener mocks) {
            this.mocks = mocks;
        }

        private WebSocket queued(WebSocket socket) {
            return new QueuedSocket(socket, queue);
        }

        private synchronized void queue(Runnable step) {
            last = last.whenCompleteAsync((done, failure) -> step.run(), Thread::startVirtualThread);
        }

        @Override
        public void onBeforeAccept(WebSocket socket, Response response) {
            mocks.onBeforeAccept(queued(socket), response);
        }

        @Override
        public void onOpen(WebSocket socket, Response response) {
            mocks.onOpen(queued(socket), response);
        }

        @Override
        public void onMessage(WebSocket socket, String text) {
            mocks.onMessage(queued(socket), text);
        }

        @Override
        public void onMessage(WebSocket socket, byte[] bytes) {
            mocks.onMessage(queued(socket), bytes);
        }

        @Override
        public void onClosing(WebSocket socket, int code, String reason) {
            mocks.onClosing(queued(socket), code, reason);
        }

        @Override
        public void onClosed(WebSocket socket, int code, String reason) {
            mocks.onClosed(queued(socket), code, reason);
        }

        @Override
        public void onFailure(WebSocket socket, Throwable failure, Response response) {
            mocks.onFailure(queued(socket), failure, response);
        }
    }

    /** Sends and closes in the order in which it is told to, and has nobody wait for it. */
    private record QueuedSocket(WebSocket socket, Consumer<Runnable> queue) implements WebSocket {

        @Override
        public RecordedRequest request() {
            return socket.request();
        }

        @Override
        public boolean send(String text) {
            queue.accept(() -> socket.send(text));
            return true;
        }

        @Override
        public boolean send(byte[] bytes) {
            queue.accept(() -> socket.send(bytes));
            return true;
        }

        @Override
        public boolean close(int code, String reason) {
            queue.accept(() -> socket.close(code, reason));
            return true;
        }
    }
}
