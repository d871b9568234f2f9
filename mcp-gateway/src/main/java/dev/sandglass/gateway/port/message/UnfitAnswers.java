package dev.sandglass.gateway.port.message;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Which answers of a sandbox's server no client gets, whatever their headers. Pure. */
public final class UnfitAnswers {

    /** Who takes a body of several parts as it is, without acting on the headers in it. */
    private static final Set<String> TAKERS_OF_PARTS = Set.of("image", "empty");

    /** Most lines of a head: it is held until its answer is over, as objects of many times the bytes of short lines. */
    public static final int MOST_HEADERS = 256;

    private UnfitAnswers() {}

    /**
     * Why not.
     *
     * @param request headers of whoever asked
     * @param port in the sandbox
     * @return empty if the answer may be passed on
     */
    public static Optional<PortProblem> problem(
            HttpHeaders request, HttpResponseStatus status, HttpHeaders answer, int port) {
        // A proxy before us would take our passing on a 101 for a connection that is no longer HTTP's.
        if (status.code() < 200 || status.code() > 599) {
            return Optional.of(PortProblem.badGateway(
                    "The server on port %d of the sandbox answered with the status %d, which is no answer to such a request."
                            .formatted(port, status.code())));
        }
        if (answer.size() > MOST_HEADERS) {
            return Optional.of(PortProblem.badGateway(
                    "The server on port %d of the sandbox answered with %d header lines; %d are passed on at most."
                            .formatted(port, answer.size(), MOST_HEADERS)));
        }
        if (hasParts(answer) && !TAKERS_OF_PARTS.contains(request.get("Sec-Fetch-Dest", ""))) {
            return Optional.of(
                    PortProblem.badGateway(
                            "The server on port %d of the sandbox answered with a multipart type, of whose parts browsers have taken"
                                            .formatted(port)
                                    + " cookies. Show it by an <img>, over HTTPS, or load it with the header Sec-Fetch-Dest: image."));
        }
        return Optional.empty();
    }

    /** Of several types, or of a list in one header, browsers take the one or the other. */
    private static boolean hasParts(HttpHeaders answer) {
        return answer.getAll(HttpHeaderNames.CONTENT_TYPE).stream()
                .anyMatch(type -> type.toLowerCase(Locale.ROOT).contains("multipart/"));
    }
}
