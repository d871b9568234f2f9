package dev.sandglass.operator.cluster;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets so many writes of an operator pass and then no call at all, as if the process had been killed there. Events do not
 * count: they are told beside the work.
 */
public final class MortalApi implements Interceptor {

    private final AtomicInteger left;

    public MortalApi(int writes) {
        this.left = new AtomicInteger(writes);
    }

    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        boolean counts =
                !"GET".equals(request.method()) && !request.uri().getPath().contains("/apis/events.k8s.io/");
        if (dead() || (counts && left.decrementAndGet() < 0)) {
            throw new KubernetesClientException("killed before " + request.method() + " " + request.uri());
        }
    }

    /** One that dies when it is told to. */
    public static MortalApi immortal() {
        return new MortalApi(Integer.MAX_VALUE);
    }

    /** Lets nothing pass from now on. */
    public void die() {
        left.set(-1);
    }

    public boolean dead() {
        return left.get() < 0;
    }
}
