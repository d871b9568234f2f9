package dev.sandglass.gateway.link.frame;

import dev.sandglass.gateway.toolserver.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a gateway may ask of a supervisor, protocol version 1. A new verb is a new record here and an arm in the codec. */
public sealed interface Verb {

    /** The word on the wire. */
    String word();

    /**
     * Introduces this connection; sent by the link itself.
     *
     * @param peer how this process calls itself
     * @param calls kinds of calls from the pod that it answers
     */
    record Hello(String peer, Set<String> calls) implements Verb {
        @Override
        public String word() {
            return "hello";
        }
    }

    /**
     * Configures a seat for the sandbox that claimed it; sent by the link itself, before any other verb but hello.
     *
     * @param sandboxUid UID of the sandbox's resource
     * @param incarnation number of the pod, from 1
     * @param env variables of the sandbox's code
     * @param lost why what ran in the sandbox before is lost, in one word; null if nothing is
     */
    record Configure(
            String sandboxUid,
            int incarnation,
            Map<String, String> env,
            @Nullable String lost) implements Verb {
        @Override
        public String word() {
            return "configure";
        }

        /** Not the variables, which may be secret. */
        @Override
        public String toString() {
            return "Configure[" + sandboxUid + ", " + incarnation + "]";
        }
    }

    /** A verb that concerns one execution. */
    sealed interface OfExecution extends Verb {
        /** Name of the execution, unique in the sandbox's incarnation: 1 to 255 printable ASCII characters. */
        String executionId();
    }

    /** A verb after which the asking connection gets the execution's output. */
    sealed interface Following extends OfExecution {
        /** Where the output starts, in bytes of the execution's output. */
        default long from() {
            return 0;
        }
    }

    /**
     * Runs code in a kernel. The same id again does not run it twice.
     *
     * @param executionId see {@link OfExecution}
     * @param language e.g. {@code python}
     * @param session the kernel's name
     * @param label what the caller calls it; null if that is its name
     * @param fresh whether it is for this execution alone, so that a kernel that waits may serve it
     * @param servers names of MCP servers that the code gets as proxies; Python's alone
     * @param pythonEnv name or path of the Python that a new session begins with; null for the image's
     * @param code the source text, at most 1 MiB
     * @param envs environment of this execution
     * @param timeout from the start of the run
     * @param attach whether this connection gets the output
     */
    record Execute(
            String executionId,
            String language,
            String session,
            @Nullable String label,
            boolean fresh,
            List<String> servers,
            @Nullable String pythonEnv,
            Blob code,
            Map<String, String> envs,
            Duration timeout,
            boolean attach)
            implements Following {
        /** For a session that is called by its name. */
        public Execute(
                String executionId,
                String language,
                String session,
                @Nullable String pythonEnv,
                Blob code,
                Map<String, String> envs,
                Duration timeout,
                boolean attach) {
            this(executionId, language, session, null, false, List.of(), pythonEnv, code, envs, timeout, attach);
        }

        @Override
        public String word() {
            return "execute";
        }

        /** Neither code nor environment. */
        @Override
        public String toString() {
            return "Execute[" + executionId + ", " + language + "/" + session + ", " + code + "]";
        }
    }

    /**
     * Runs a process; no shell. The same id again does not run it twice.
     *
     * @param executionId see {@link OfExecution}
     * @param command the program
     * @param args its arguments
     * @param cwd absolute path; empty = the workspace
     * @param envs environment on top of the sandbox's
     * @param stdin what it reads, at most 8 MiB
     * @param timeout from the start of the run
     * @param attach whether this connection gets the output
     * @param shellLine this is {@code sh -c LINE}, and the line is for bash where the image has it
     */
    record Command(
            String executionId,
            String command,
            List<String> args,
            String cwd,
            Map<String, String> envs,
            Blob stdin,
            Duration timeout,
            boolean attach,
            boolean shellLine)
            implements Following {
        @Override
        public String word() {
            return "command";
        }

        /** Neither arguments nor environment. */
        @Override
        public String toString() {
            return "Command[" + executionId + ", " + args.size() + " arguments, stdin " + stdin + "]";
        }
    }

    /**
     * Installs packages. The same id again does not install twice.
     *
     * @param executionId see {@link OfExecution}
     * @param language whose packages, e.g. {@code python}
     * @param packages names with or without versions, URLs or paths; 1 to 64
     * @param timeout from the start of the run
     * @param attach whether this connection gets the output
     */
    record Install(String executionId, String language, List<String> packages, Duration timeout, boolean attach)
            implements Following {
        @Override
        public String word() {
            return "install";
        }

        /** Not the packages: a URL may hold a password. */
        @Override
        public String toString() {
            return "Install[" + executionId + ", " + packages.size() + " packages of " + language + "]";
        }
    }

    /**
     * Reads an execution's output, whoever started it.
     *
     * @param executionId see {@link OfExecution}
     * @param from where to start, in bytes of the execution's output
     */
    record Attach(String executionId, long from) implements Following {
        @Override
        public String word() {
            return "attach";
        }
    }

    /**
     * Ends this connection's reading.
     *
     * @param executionId see {@link OfExecution}
     */
    record Detach(String executionId) implements OfExecution {
        @Override
        public String word() {
            return "detach";
        }
    }

    /**
     * Interrupts an execution.
     *
     * @param executionId see {@link OfExecution}
     */
    record Interrupt(String executionId) implements OfExecution {
        @Override
        public String word() {
            return "interrupt";
        }
    }

    /** A verb that concerns one session's kernel. */
    sealed interface OfSession extends Verb {
        /** E.g. {@code python}. */
        String language();

        /** The kernel's name: 1 to 63 letters, digits, hyphens and underscores. */
        String session();
    }

    /**
     * Interrupts what runs in a session.
     *
     * @param language see {@link OfSession}
     * @param session see {@link OfSession}
     */
    record InterruptSession(String language, String session) implements OfSession {
        @Override
        public String word() {
            return "interrupt";
        }
    }

    /**
     * Gives a session a fresh kernel.
     *
     * @param language see {@link OfSession}
     * @param session see {@link OfSession}
     */
    record Reset(String language, String session) implements OfSession {
        @Override
        public String word() {
            return "reset";
        }
    }

    /**
     * Ends a session's kernel and forgets it.
     *
     * @param language see {@link OfSession}
     * @param session see {@link OfSession}
     */
    record Close(String language, String session) implements OfSession {
        @Override
        public String word() {
            return "close";
        }
    }

    /**
     * Does something with a file or folder.
     *
     * @param operation what
     */
    record Files(FileOperation operation) implements Verb {
        @Override
        public String word() {
            return "files";
        }
    }

    /** A verb that concerns the MCP servers in the pod. */
    sealed interface OfServers extends Verb {}

    /**
     * Starts an MCP server, or replaces the one of its name. The answer comes when it can be called.
     *
     * @param registration how
     * @param api whether functions are written for its tools; the answer comes behind that
     * @param revision a word for this definition: a server that was registered with it stays as it is; null for one that is
     *     always replaced
     */
    record RegisterServer(
            Registration registration,
            boolean api,
            @Nullable String revision) implements OfServers {
        /** One for code in the same pod, which could read what comes from Secrets: there is none of it. */
        public RegisterServer(Registration registration) {
            this(registration, true, null);
            if (!registration.secrets().isEmpty()) {
                throw new IllegalArgumentException("Values from Secrets are for servers in pods of their own");
            }
        }

        @Override
        public String word() {
            return "mcp_register";
        }
    }

    /** Asks for the MCP servers. */
    record ListServers() implements OfServers {
        @Override
        public String word() {
            return "mcp_list";
        }
    }

    /**
     * Ends an MCP server and forgets it.
     *
     * @param name of the server
     */
    record RemoveServer(String name) implements OfServers {
        @Override
        public String word() {
            return "mcp_remove";
        }
    }

    /**
     * Asks for the tools of an MCP server with their schemas; the answer's bytes are a JSON object.
     *
     * @param server name of the server
     */
    record ListServerTools(String server) implements OfServers {
        @Override
        public String word() {
            return "mcp_tools";
        }
    }

    /**
     * Writes the functions of an MCP server that runs in another pod. The answer comes when they are there.
     *
     * @param name under which code imports them
     * @param tools of the server with their schemas, a JSON object as a pod lists them
     */
    record WriteFunctions(String name, Blob tools) implements OfServers {
        @Override
        public String word() {
            return "mcp_functions";
        }
    }

    /**
     * Calls a tool of an MCP server; the answer's bytes are its result as JSON.
     *
     * @param server name of the server
     * @param tool as the server calls it
     * @param callId names this call for {@link CancelServerCall}: 1 to 64 characters, unique among those under way
     * @param timeout how long the server may take, from when the call's turn comes
     * @param atOnce how many calls the server is to have at a time, of all gateways together; the others wait in the pod
     * @param arguments of the tool, a JSON object, at most 8 MiB
     */
    record CallServerTool(String server, String tool, String callId, Duration timeout, int atOnce, Blob arguments)
            implements OfServers {
        @Override
        public String word() {
            return "mcp_call";
        }
    }

    /**
     * Gives up a call of a tool; the server is told.
     *
     * @param callId of the call
     */
    record CancelServerCall(String callId) implements OfServers {
        @Override
        public String word() {
            return "mcp_cancel";
        }
    }

    /** Asks for kernels and executions. */
    record ListAll() implements Verb {
        @Override
        public String word() {
            return "list";
        }
    }

    /** Asks what the sandbox uses. */
    record Metrics() implements Verb {
        @Override
        public String word() {
            return "metrics";
        }
    }
}
