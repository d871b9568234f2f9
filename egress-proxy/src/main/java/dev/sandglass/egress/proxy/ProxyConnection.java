package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.Target;
import dev.sandglass.api.egress.Verdict;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.client.ClientAdmission.Answer;
import dev.sandglass.egress.request.ForwardedHead;
import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.tunnel.Allotments;
import dev.sandglass.egress.tunnel.Answers;
import dev.sandglass.egress.tunnel.BodyGate;
import dev.sandglass.egress.tunnel.End;
import dev.sandglass.egress.tunnel.FirstReader;
import dev.sandglass.egress.tunnel.HelloGate;
import dev.sandglass.egress.tunnel.Limited;
import dev.sandglass.egress.tunnel.LingeringClose;
import dev.sandglass.egress.tunnel.Outcome;
import dev.sandglass.egress.tunnel.Relay;
import dev.sandglass.egress.tunnel.Tunnel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.util.concurrent.Future;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a sandbox, and its one request: who asks, may he, where does it lead, connect, pass on. Every step ends
 * in the next one or in an answer that says why not. On the event loop of the connection.
 */
final class ProxyConnection implements FirstReader.Reader {

    private static final Logger LOG = LoggerFactory.getLogger(ProxyConnection.class);

    private final ProxyContext workings;
    private final Channel inner;
    private final IpAddress source;
    private final Door door;

    ProxyConnection(ProxyContext workings, Channel inner, IpAddress source, Door door) {
        this.workings = workings;
        this.inner = inner;
        this.source = source;
        this.door = door;
    }

    @Override
    public void refused(Outcome outcome, String why) {
        workings.audit().refused(source, outcome);
        LingeringClose.say(inner, door.refusal(outcome, why));
    }

    @Override
    public void understood(ProxyRequest request) {
        workings.admission()
                .ask(source, request.credential(), inner.eventLoop())
                .thenAccept(answer -> answered(answer, request))
                .exceptionally(this::broken);
    }

    private void answered(Answer answer, ProxyRequest request) {
        switch (answer) {
            case Answer.NotYet _ -> refused(Outcome.NOT_READY, "the proxy does not know the sandboxes yet");
            case Answer.Unknown unknown -> refused(Outcome.UNKNOWN_SANDBOX, unknown.why());
            case Answer.Known known -> admitted(known.client(), request);
        }
    }

    private void admitted(Client client, ProxyRequest request) {
        Tunnel tunnel = new Tunnel(
                client, source, request.target(), inner, workings.nanoTime(), workings.backlog(), this::ended);
        Allotments.Allotment allotment = workings.allotments().of(client.uid());
        Optional<Outcome> full = Allotments.take(allotment);
        if (full.isPresent()) {
            deny(tunnel, full.get(), Limited.sentence(full.get(), workings.limits()));
            return;
        }
        tunnel.use(allotment);
        workings.tunnels().add(tunnel);
        Optional<Verdict> verdict = workings.tunnels().verdict(tunnel);
        if (verdict.isEmpty()) {
            deny(tunnel, Outcome.UNKNOWN_SANDBOX, "the sandbox at this address has just changed");
            return;
        }
        switch (verdict.get()) {
            case Verdict.Denied denied -> unlisted(tunnel, denied.why().sentence());
            case Verdict.Allowed allowed -> {
                tunnel.allowedBy(allowed.rule());
                if (request instanceof ProxyRequest.Forward && isForTlsAlone(tunnel.target())) {
                    deny(
                            tunnel,
                            Outcome.MALFORMED,
                            "nothing but TLS is spoken on this port: ask for a tunnel (CONNECT)");
                } else {
                    confirm(tunnel, request);
                }
            }
        }
    }

    /** Advice to list what no entry opens would only lead to the next refusal. */
    private void unlisted(Tunnel tunnel, String why) {
        workings.destinations()
                .denying(tunnel.target().host())
                .ifPresentOrElse(
                        never -> deny(tunnel, never.outcome(), why + ", and no entry would open it: " + never.why()),
                        () -> deny(tunnel, Outcome.NOT_ALLOWED, why));
    }

    /** A credential proves who asks; an address alone might have passed to another a moment ago. */
    private void confirm(Tunnel tunnel, ProxyRequest request) {
        if (request.credential().isPresent()) {
            lookUp(tunnel, request);
            return;
        }
        workings.clients()
                .confirm(source, tunnel.client().uid())
                .thenAcceptAsync(
                        same -> {
                            if (same) {
                                lookUp(tunnel, request);
                            } else {
                                deny(
                                        tunnel,
                                        Outcome.UNKNOWN_SANDBOX,
                                        "the sandbox at this address cannot be made sure of; show the credential of the"
                                                + " proxy variables");
                            }
                        },
                        inner.eventLoop())
                .exceptionally(bug -> broken(tunnel, bug));
    }

    /** A mistake of ours, in a step that no caller waits for: without an end the connection would be left alone for ever. */
    private @Nullable Void broken(Tunnel tunnel, Throwable bug) {
        // A loop that is shutting down takes no more steps, and closes its connections itself.
        if (!inner.eventLoop().isShuttingDown()) {
            LOG.atError().setCause(bug).log("A step of a request failed");
            tunnel.end(End.BROKEN);
        }
        return null;
    }

    private @Nullable Void broken(Throwable bug) {
        LOG.atError().setCause(bug).log("Admitting a client failed");
        var _ = inner.close();
        return null;
    }

    private void ended(Tunnel tunnel) {
        workings.tunnels().remove(tunnel);
        workings.audit().ended(tunnel);
    }

    private void deny(Tunnel tunnel, Outcome outcome, String why) {
        if (!tunnel.isOver()) {
            tunnel.refused(outcome);
            if (outcome.isOfTheWay()) {
                workings.audit().failed(tunnel, why);
            }
            LingeringClose.say(inner, door.refusal(outcome, tunnel.client(), tunnel.target(), why));
        }
    }

    private void lookUp(Tunnel tunnel, ProxyRequest request) {
        workings.destinations()
                .of(tunnel.target().host())
                .thenAcceptAsync(
                        destination -> {
                            switch (destination) {
                                case Destination.Refused refused -> deny(tunnel, refused.outcome(), refused.why());
                                case Destination.Reachable reachable -> dial(tunnel, request, reachable);
                            }
                        },
                        inner.eventLoop())
                .exceptionally(bug -> broken(tunnel, bug));
    }

    private void dial(Tunnel tunnel, ProxyRequest request, Destination.Reachable reachable) {
        if (tunnel.isOver()) {
            return;
        }
        workings.dialler()
                .dial(inner.eventLoop(), reachable.addresses(), tunnel.target().port())
                .addListener((Future<Channel> dialled) -> {
                    if (dialled.isSuccess()) {
                        connected(tunnel, request, dialled.getNow());
                    } else {
                        LOG.atDebug()
                                .addKeyValue("host", tunnel.target().host())
                                .setCause(dialled.cause())
                                .log("Connecting failed");
                        deny(tunnel, Outcome.CONNECT_FAILED, workings.dialler().why(dialled.cause()));
                    }
                });
    }

    private void connected(Tunnel tunnel, ProxyRequest request, Channel server) {
        tunnel.connectedTo(server);
        if (tunnel.isOver()) {
            return;
        }
        workings.audit().opened(tunnel.age());
        tunnel.endWhenIdle(workings.limits().idle());
        FirstReader reader = inner.pipeline().get(FirstReader.class);
        ByteBuf rest = reader.rest();
        inner.pipeline().remove(reader);
        server.pipeline().addLast(new Relay(tunnel, inner, false));
        switch (request) {
            case ProxyRequest.Tunnel _ -> through(tunnel, server);
            case ProxyRequest.Forward forward -> forward(tunnel, forward, server);
            case ProxyRequest.Direct _ -> straight(tunnel, server);
        }
        if (rest.isReadable()) {
            inner.pipeline().fireChannelRead(rest).fireChannelReadComplete();
        } else {
            rest.release();
            inner.read();
        }
    }

    private void through(Tunnel tunnel, Channel server) {
        ChannelPipeline pipeline = inner.pipeline();
        var _ = inner.writeAndFlush(Answers.established());
        if (tunnel.target().host() instanceof Host.Name name && isForTlsAlone(tunnel.target())) {
            pipeline.addLast(
                    new HelloGate(tunnel, name.name(), workings.limits().hello(), server::read));
        } else {
            server.read();
        }
        pipeline.addLast(new Relay(tunnel, server, true));
    }

    private boolean isForTlsAlone(Target target) {
        return target.host() instanceof Host.Name && workings.tlsPorts().contains(target.port());
    }

    private void straight(Tunnel tunnel, Channel server) {
        inner.pipeline().addLast(new Relay(tunnel, server, true));
        server.read();
    }

    private void forward(Tunnel tunnel, ProxyRequest.Forward request, Channel server) {
        tunnel.endsWithAnswer();
        byte[] head = ForwardedHead.bytes(request.head());
        // It carries what the sandbox likes, so it counts like all else that leaves.
        tunnel.passed(head.length, true);
        if (tunnel.isOver()) {
            return;
        }
        var _ = server.writeAndFlush(Unpooled.wrappedBuffer(head));
        inner.pipeline().addLast(new BodyGate(tunnel, request.body()), new Relay(tunnel, server, true));
        server.read();
    }
}
