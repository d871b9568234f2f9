package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.name.Names;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Names as a test says, and every question that was asked. */
public final class FakeNames implements Names {

    private final Map<String, List<IpAddress>> answers = new ConcurrentHashMap<>();
    private final List<String> questions = new CopyOnWriteArrayList<>();

    public void put(String name, String... addresses) {
        answers.put(name, Arrays.stream(addresses).map(IpAddress::parse).toList());
    }

    /** That name is never answered. */
    public void silent(String name) {
        answers.put(name, List.of());
    }

    public List<String> questions() {
        return questions;
    }

    @Override
    public CompletionStage<List<IpAddress>> lookup(HostName name) {
        questions.add(name.value());
        List<IpAddress> answer = answers.get(name.value());
        if (answer == null) {
            return CompletableFuture.failedStage(new NoSuchName(name));
        }
        return answer.isEmpty() ? new CompletableFuture<>() : CompletableFuture.completedStage(answer);
    }
}
