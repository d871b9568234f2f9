package dev.sandglass.egress.splitdns;

import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.HostName;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.Target;
import dev.sandglass.api.egress.Verdict;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.client.ClientAdmission;
import dev.sandglass.egress.dns.AnswerWriter;
import dev.sandglass.egress.dns.Code;
import dev.sandglass.egress.dns.Message;
import dev.sandglass.egress.proxy.ProxyContext;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers a sandbox that asks for a name: with this address, if the sandbox reaches the name through one of the doors, else
 * that there is no such name. It asks no other server, so no question leaves, whatever its labels say.
 */
final class DnsResponder {

    private final ProxyContext workings;
    private final IpAddress service;
    private final List<Integer> ports;
    private final Rates rates;
    private final MeterRegistry meters;

    private static final Logger LOG = LoggerFactory.getLogger(DnsResponder.class);

    /** Questions of clients that are not known yet; they cost memory until they are answered. */
    static final int MOST_WAITING = 1000;

    private final AtomicInteger waiting = new AtomicInteger();

    /**
     * For all sandboxes.
     *
     * @param service the address of the doors
     * @param ports of servers, to which the doors lead
     */
    DnsResponder(ProxyContext workings, IpAddress service, List<Integer> ports, Rates rates, MeterRegistry meters) {
        this.workings = workings;
        this.service = service;
        this.ports = List.copyOf(ports);
        this.rates = rates;
        this.meters = meters;
        meters.gauge("sandglass.egress.queries.waiting", waiting);
    }

    /**
     * Answers a message, unless it is one that gets no answer.
     *
     * @param loop of the channel; answers come on it, and those to clients that are known at once
     */
    void answer(IpAddress source, byte[] message, ScheduledExecutorService loop, Consumer<byte[]> to) {
        switch (Message.parse(message)) {
            case Message.Dropped _ -> count("dropped");
            case Message.Wrong wrong -> {
                count("malformed");
                to.accept(AnswerWriter.of(wrong));
            }
            case Message.Question question -> answer(source, question, loop, to);
        }
    }

    private void answer(
            IpAddress source, Message.Question question, ScheduledExecutorService loop, Consumer<byte[]> to) {
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            to.accept(coded(question, Code.SERVER_FAILURE, "too-many"));
            return;
        }
        workings.admission()
                .ask(source, Optional.empty(), loop)
                .thenAccept(admitted -> to.accept(answer(admitted, question)))
                .whenComplete((done, bug) -> {
                    waiting.decrementAndGet();
                    if (bug != null) {
                        LOG.atError().setCause(bug).log("Answering a question of DNS failed");
                    }
                });
    }

    private byte[] answer(ClientAdmission.Answer admitted, Message.Question question) {
        return switch (admitted) {
            case ClientAdmission.Answer.NotYet _ -> coded(question, Code.SERVER_FAILURE, "not-ready");
            case ClientAdmission.Answer.Unknown _ -> coded(question, Code.REFUSED, "unknown-sandbox");
            case ClientAdmission.Answer.Known known ->
                rates.take(known.client().uid())
                        ? answer(known.client(), question)
                        : coded(question, Code.REFUSED, "too-many");
        };
    }

    private byte[] answer(Client client, Message.Question question) {
        Optional<HostName> name = question.name();
        if (name.isEmpty()) {
            return coded(question, Code.NO_SUCH_NAME, "no-host");
        }
        if (!reaches(client, name.get())) {
            workings.audit().nameRefused(client, name.get());
            return coded(question, Code.NO_SUCH_NAME, "not-allowed");
        }
        if (question.type() != (service.isSix() ? Message.AAAA : Message.A)) {
            return coded(question, Code.NO_ERROR, "no-data");
        }
        count("address");
        return AnswerWriter.of(question, service);
    }

    private boolean reaches(Client client, HostName name) {
        return ports.stream()
                .map(port -> client.rules().decide(new Target(new Host.Name(name), port)))
                .anyMatch(Verdict.Allowed.class::isInstance);
    }

    private byte[] coded(Message.Question question, Code code, String counted) {
        count(counted);
        return AnswerWriter.of(question, code);
    }

    private void count(String answer) {
        meters.counter("sandglass.egress.queries", "answer", answer).increment();
    }
}
