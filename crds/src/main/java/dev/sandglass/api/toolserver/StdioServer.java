package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.EnvRules;
import dev.sandglass.api.SchemaRules;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An MCP server that is started in the child's pod and speaks over its standard input and output.
 *
 * @param image null for the installation's default image
 * @param command the program alone
 * @param args its arguments
 * @param env variables of the server's process
 * @param cwd where it starts; null for the workspace
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record StdioServer(
        @Size(min = 1, max = 512)
        @Pattern("^[^\\s]+$")
        @JsonPropertyDescription(
                "Container image of the server's pod, such as registry.example.com/team/mcp-github:1. It"
                        + " must match the installation's list of allowed images, and have what every image of"
                        + " a Sandbox has. Default: the installation's default image. A change applies at the"
                        + " next start of the pod.")
        @Nullable
        String image,

        @Required
        @Size(min = 1, max = MAX_COMMAND)
        @Pattern(ToolServerSchemaRules.PROGRAM)
        @JsonPropertyDescription("Program to start, such as npx, uvx or /usr/local/bin/server. The program alone: its"
                + " arguments go into args. No shell is involved.")
        String command,

        @Size(max = MAX_ARGS)
        @ValidationRule(value = ToolServerSchemaRules.ARGS_SIZE, message = ToolServerSchemaRules.ARGS_SIZE_EXCEEDED)
        @JsonPropertyDescription("Arguments of the program, taken literally: at most 256, and at most 64 KiB together."
                + " Each account that may read the resource can read them.")
        List<String> args,

        @Size(max = EnvRules.MAX_ENTRIES)
        @ValidationRule(value = SchemaRules.ENV_SIZE, message = SchemaRules.ENV_SIZE_EXCEEDED)
        @JsonPropertyDescription(
                "Environment variables of the program: at most 256, and at most 32 KiB of names and values"
                        + " together. Each account that may read the resource can read values that stand here.")
        List<ServerVariable> env,

        @Size(min = 1, max = MAX_CWD)
        @Pattern(ToolServerSchemaRules.FOLDER)
        @JsonPropertyDescription(
                "Folder in which the program starts: an absolute path, or one that begins with ~/, which is"
                        + " /workspace. Default: /workspace.")
        @Nullable
        String cwd) {

    /** Longest text of {@code command}. */
    public static final int MAX_COMMAND = 4096;

    /** Most arguments. */
    public static final int MAX_ARGS = 256;

    /** Longest argument. */
    public static final int MAX_ARG = 32 * 1024;

    /** What an argument is: any text without a NUL. */
    public static final String ARG_PATTERN = "^[^\\x00]*$";

    /** Longest path of {@code cwd}. */
    public static final int MAX_CWD = 1024;

    public StdioServer(
            @Nullable String image,
            String command,
            @Nullable List<String> args,
            @Nullable List<ServerVariable> env,
            @Nullable String cwd) {
        this.image = image;
        this.command = command;
        this.args = args == null ? List.of() : List.copyOf(args);
        this.env = env == null ? List.of() : List.copyOf(env);
        this.cwd = cwd;
    }

    /**
     * The variables whose values stand in the resource, by name, in their order; the schema refuses duplicates, here the
     * last one wins.
     */
    public Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        env.stream()
                .filter(variable -> variable.valueFrom() == null)
                .forEach(variable -> variables.put(variable.name(), variable.value()));
        return variables;
    }

    /** Where the values of the other variables come from, by name, in their order. */
    public Map<String, SecretKeyRef> environmentSecrets() {
        Map<String, SecretKeyRef> secrets = new LinkedHashMap<>();
        env.forEach(variable -> {
            if (variable.valueFrom() != null) {
                secrets.put(variable.name(), variable.valueFrom().secretKeyRef());
            }
        });
        return secrets;
    }

    /** Neither arguments nor values: they may hold keys. */
    @Override
    public String toString() {
        return "StdioServer[%s, %d arguments, %s]".formatted(command, args.size(), env);
    }
}
