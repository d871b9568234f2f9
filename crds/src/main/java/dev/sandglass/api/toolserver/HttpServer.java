package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.egress.DomainRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server that the child's pod reaches over HTTP.
 *
 * @param url where it is, without user and password
 * @param headers sent with each request
 * @param transport {@value #STREAMABLE_HTTP} or {@value #SSE}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record HttpServer(
        @Required
        @Size(min = 1, max = MAX_URL)
        @ValidationRule(value = ToolServerSchemaRules.URL, message = ToolServerSchemaRules.URL_WRONG)
        @ValidationRule(value = ToolServerSchemaRules.URL_WITHOUT_USER, message = ToolServerSchemaRules.URL_WITH_USER)
        @JsonPropertyDescription(
                "Address of the server, such as https://mcp.example.com/mcp, without user and password. Its"
                        + " host and port need no entry in allowedDomains.")
        String url,

        @Size(max = MAX_HEADERS)
        @ValidationRule(value = ToolServerSchemaRules.HEADER_NAMES, message = ToolServerSchemaRules.HEADER_NAMES_TWICE)
        @ValidationRule(
                value = ToolServerSchemaRules.HEADERS_SIZE,
                message = ToolServerSchemaRules.HEADERS_SIZE_EXCEEDED)
        @JsonPropertyDescription("Headers of each request: at most 64, and at most 32 KiB of names and values together."
                + " Each account that may read the resource can read values that stand here.")
        List<HttpHeader> headers,

        @Default(STREAMABLE_HTTP)
        @JsonPropertyDescription("How the server speaks: streamable_http, or sse for the older way with two addresses."
                + " Default: streamable_http.")
        String transport) {

    /** Longest URL. */
    public static final int MAX_URL = 2048;

    /** Most headers. */
    public static final int MAX_HEADERS = 64;

    /** The transport of today, and the default. */
    public static final String STREAMABLE_HTTP = "streamable_http";

    /** The transport of 2024. */
    public static final String SSE = "sse";

    // No wildcard, no range: the entry that it becomes must open one host.
    private static final Pattern ORIGIN =
            Pattern.compile("(https?)://([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(?::([0-9]{1,5}))?(?:[/?].*)?");

    public HttpServer(String url, @Nullable List<HttpHeader> headers, @Nullable String transport) {
        this.url = url;
        this.headers = headers == null ? List.of() : List.copyOf(headers);
        this.transport = transport == null ? STREAMABLE_HTTP : transport;
    }

    /**
     * The headers whose values stand in the resource, by name, in their order; the schema refuses duplicates, here the last
     * one wins.
     */
    public Map<String, String> headerTexts() {
        Map<String, String> texts = new LinkedHashMap<>();
        headers.stream()
                .filter(header -> header.valueFrom() == null)
                .forEach(header -> texts.put(header.name(), header.value()));
        return texts;
    }

    /** Where the values of the other headers come from, by name, in their order. */
    public Map<String, SecretKeyRef> headerSecrets() {
        Map<String, SecretKeyRef> secrets = new LinkedHashMap<>();
        headers.forEach(header -> {
            if (header.valueFrom() != null) {
                secrets.put(header.name(), header.valueFrom().secretKeyRef());
            }
        });
        return secrets;
    }

    /**
     * The entry of {@code allowedDomains} that opens the URL's host on the URL's port, and nothing else.
     *
     * @throws IllegalArgumentException if the URL names no host that an entry can open
     */
    public DomainRule domain() {
        Matcher origin = ORIGIN.matcher(url);
        if (!origin.matches()) {
            throw new IllegalArgumentException("http.url " + ToolServerSchemaRules.URL_WRONG);
        }
        String port = origin.group(3) != null
                ? origin.group(3)
                : Integer.toString(origin.group(1).equals("http") ? DomainRule.HTTP : DomainRule.HTTPS);
        return DomainRule.parse(origin.group(2) + ":" + port);
    }

    /** Neither path nor headers: they may hold keys. */
    @Override
    public String toString() {
        return "HttpServer[%d headers, %s]".formatted(headers.size(), transport);
    }
}
