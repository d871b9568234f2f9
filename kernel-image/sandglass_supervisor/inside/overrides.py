"""What this package overrides of ipykernel, IPython and jupyter_client, which private members it reaches into, and why.

A list for readers and for ``tests/test_overrides.py``: no kernel loads it. The test fails if the code does something
that is not listed here, or if an installed package does not have what is listed. ``kernel-image/check --newest`` asks
the same of the newest releases.
"""

from typing import NamedTuple

THREAD = "ipykernel.iostream:IOPubThread"
STREAM = "ipykernel.iostream:OutStream"
HOOK = "ipykernel.displayhook:ZMQShellDisplayHook"
PUBLISHER = "ipykernel.zmqshell:ZMQDisplayPublisher"
SHELL = "ipykernel.zmqshell:ZMQInteractiveShell"
KERNEL = "ipykernel.ipkernel:IPythonKernel"
APP = "ipykernel.kernelapp:IPKernelApp"
HISTORY = "IPython.core.history:HistoryManager"
SESSION = "jupyter_client.session:Session"


class Override(NamedTuple):
    """One member: where it is, the parameters that it has there (``name=`` has a default), and why we need it."""

    owner: str
    member: str
    form: str
    why: str


OVERRIDES = (
    # Output: sent at once and in order, and nothing piles up.
    Override(THREAD, "__init__", "(self, socket, pipe=, session=)", "adds a lock of the socket"),
    Override(THREAD, "send_multipart", "(self, *args, **kwargs)", "sends from the main thread where that is safe"),
    Override(THREAD, "_events", "value", "what waits is counted, and sent before what comes later"),
    Override(THREAD, "_handle_event", "(self, msg)", "takes what waits under the lock"),
    Override(THREAD, "_really_send", "(self, msg, *args, **kwargs)", "notes output that a crash would lose"),
    Override(THREAD, "_setup_xpub_listener", "(self)", "the original receives without the lock"),
    Override(THREAD, "_handle_subscription", "(self, frames)", "a subscription that was heard under the lock"),
    Override(
        STREAM,
        "__init__",
        "(self, session, pub_thread, name, pipe=, echo=, *, watchfd=, isatty=)",
        "the pipe of programs is ours",
    ),
    Override(STREAM, "write", "(self, string)", "in slices, after what programs wrote; waits for the reader"),
    Override(STREAM, "flush", "(self)", "nothing to do if nothing was written since"),
    Override(STREAM, "flush_timeout", "value", "waits for a reader as long as it takes"),
    Override(STREAM, "_flush", "(self)", "what waits in the thread is sent before"),
    Override(STREAM, "_rotate_buffers", "(self)", "takes what was written without waiting for the thread"),
    Override(STREAM, "close", "(self)", "sends what is left, and lets go of the descriptor"),
    Override(STREAM, "fileno", "(self)", "the original leads to nowhere"),
    Override(STREAM, "parent_header", "value", "output of tasks belongs to the run that is on"),
    Override(PUBLISHER, "parent_header", "value", "displays of tasks belong to the run that is on"),
    Override(
        PUBLISHER,
        "publish",
        "(self, data, metadata=, *, transient=, update=, **kwargs)",
        "the code may have put something that cannot be flushed in place of a standard stream",
    ),
    Override(PUBLISHER, "clear_output", "(self, wait=)", "as publish"),
    Override(HOOK, "__init__", "(self, *args, **kwargs)", "keeps no __ and ___"),
    Override(HOOK, "_", "value", "the last value is let go of"),
    Override(HOOK, "finish_displayhook", "(self)", "the result goes with the end of the run"),
    Override(HOOK, "log_output", "(self, format_dict)", "keeps nothing of what was shown"),
    Override(HOOK, "update_user_ns", "(self, result)", "keeps the last value alone, and no Out"),
    # The shell: exceptions as Python tells them, and little kept of runs that are over.
    Override(SHELL, "_default_exiter", "value", "exit and quit end the run as in a program"),
    Override(
        SHELL,
        "_format_exception_for_storage",
        "(self, exception, filename=, running_compiled_code=)",
        "an exception whose __str__ fails would cost the reply",
    ),
    Override(SHELL, "_last_traceback_during_displayhook", "value", "else every later await fails; nothing resets it"),
    Override(SHELL, "_showtraceback", "(self, etype, evalue, stb)", "what was forked off tells by the descriptor"),
    Override(SHELL, "_tee", "(self, channel)", "keeps nothing of what is printed"),
    Override(SHELL, "display_pub_class", "value", "our publisher"),
    Override(SHELL, "displayhook_class", "value", "our hook"),
    Override(SHELL, "getoutput", "(self, cmd, split=, depth=)", "an interrupted program ends the run"),
    Override(SHELL, "history_manager", "value", "our history, which has no database"),
    Override(SHELL, "init_builtins", "(self)", "modules and scripts find exit and quit"),
    Override(SHELL, "init_environment", "(self)", "sets pagers alone"),
    Override(SHELL, "init_history", "(self)", "makes our history"),
    Override(SHELL, "last_execution_result", "value", "the last value is let go of"),
    Override(SHELL, "run_cell", "(self, *args, **kwargs)", "what fails in a cell of a magic is the run's error"),
    Override(
        SHELL,
        "run_cell_async",
        "(self, raw_cell, store_history=, silent=, shell_futures=, *, transformed_cell=, preprocessing_exc_tuple=,"
        " cell_id=, cell_meta=)",
        "an exception whose __str__ fails would cost the reply",
    ),
    Override(SHELL, "run_code", "(self, code_obj, result=, *, async_=)", "sys.exit ends the run, and tells no hint"),
    Override(SHELL, "set_parent", "(self, parent)", "streams that the code put something before learn of the run too"),
    Override(
        SHELL,
        "showtraceback",
        "(self, exc_tuple=, filename=, tb_offset=, exception_only=, running_compiled_code=)",
        "groups of exceptions, sys.exit, and exceptions whose __str__ fails",
    ),
    Override(SHELL, "system", "(self, cmd)", "is system_piped"),
    Override(SHELL, "system_piped", "(self, cmd)", "an interrupted program ends the run"),
    Override(SHELL, "transform_cell", "(self, raw_cell)", "the original is asked twice for each run"),
    Override(HISTORY, "store_inputs", "(self, line_num, source, source_raw=)", "cuts long code"),
    # The kernel: a reply to every run, whatever ends it.
    Override(KERNEL, "shell_class", "value", "our shell"),
    Override(KERNEL, "_cancel_on_sigint", "(self, future)", "the original waits for the loop, which the code may hold"),
    Override(KERNEL, "_execute_sleep", "value", "the original sleeps after each run"),
    Override(
        KERNEL,
        "_publish_execute_input",
        "(self, code, parent, execution_count)",
        "the supervisor reads the beginning from shared memory",
    ),
    Override(KERNEL, "_publish_status", "(self, status, channel, parent=)", "one message fewer for each run"),
    Override(KERNEL, "_supports_kernel_subshells", "value", "the original's thread costs each run two hops"),
    Override(
        KERNEL,
        "do_execute",
        "(self, code, silent, store_history=, user_expressions=, allow_stdin=, *, cell_meta=, cell_id=)",
        "waits for what programs wrote, before the reply",
    ),
    Override(KERNEL, "execute_request", "(self, stream, ident, parent)", "variables of one run; always a reply"),
    Override(KERNEL, "getpass", "(self, prompt=, stream=, *, echo_char=)", "says that nobody answers"),
    Override(KERNEL, "raw_input", "(self, prompt=)", "says that nobody answers"),
    # The application: no connection file, no heartbeat, fewer threads.
    Override(APP, "kernel_class", "value", "our kernel"),
    Override(APP, "init_connection_file", "(self)", "the key is in no file"),
    Override(APP, "write_connection_file", "(self, **kwargs)", "the key is in no file"),
    Override(APP, "log_connection_info", "(self)", "nobody reads it"),
    Override(APP, "init_heartbeat", "(self)", "the supervisor sees the process"),
    Override(APP, "init_control", "(self, context)", "no thread for the shell channel"),
    Override(APP, "shell_channel_thread", "value", "no thread for the shell channel"),
    Override(APP, "init_iopub", "(self, context)", "a low mark, which makes senders wait"),
    Override(APP, "iopub_socket", "value", "as init_iopub"),
    Override(APP, "iopub_thread", "value", "as init_iopub"),
    Override(APP, "init_io", "(self)", "makes the streams know each other"),
    Override(APP, "init_path", "(self)", "the working directory comes after the standard library"),
    Override(APP, "init_gui_pylab", "(self)", "no MPLBACKEND for programs"),
    Override(APP, "initialize", "(self, argv=)", "knows whether configuration of others was read"),
    Override(APP, "_exec_file", "(self, fname, shell_futures=)", "knows whether files of others ran"),
    Override(APP, "patch_io", "(self)", "the crash report goes to the supervisor"),
    Override(APP, "start", "(self)", "the loop goes on after an exception that reaches it"),
    Override(APP, "io_loop", "value", "as start"),
    *(
        Override(APP, name, "value", "the supervisor chooses the connection")
        for name in ("transport", "ip", "shell_port", "iopub_port", "stdin_port", "control_port", "session")
    ),
    # Messages, bounded before they are sent.
    Override(SESSION, "__init__", "(self, **kwargs)", "our JSON"),
    Override(
        SESSION,
        "send",
        "(self, stream, msg_or_type, content=, parent=, ident=, buffers=, track=, header=, metadata=)",
        "cuts what is too large",
    ),
    Override(SESSION, "serialize", "(self, msg, ident=)", "as send"),
    # asyncio.run in a cell: the kernel's loop steps aside.
    Override("asyncio", "_get_running_loop", "value", "asyncio's public function raises where no loop runs"),
    Override("asyncio", "_set_running_loop", "value", "the loop steps aside and comes back"),
    Override("asyncio.tasks", "_enter_task", "value", "so does its task"),
    Override("asyncio.tasks", "_leave_task", "value", "so does its task"),
    Override("sys", "_getframe", "value", "which of IPython's functions tells an exception"),
)

# Public members that are used as they are.
USED = {
    THREAD: "background_socket io_loop schedule socket start thread",
    "ipykernel.iostream:BackgroundSocket": "io_thread",
    STREAM: "closed name pub_thread session set_parent topic",
    HOOK: "pub_socket shell",
    SHELL: "InteractiveTB SyntaxTB ast_node_interactivity builtin_trap compile configurables display_formatter"
    " displayhook exit_now exiter init_user_ns safe_execfile safe_run_module user_global_ns user_ns var_expand",
    KERNEL: "parent session shell start",
    APP: "configure_tornado_logger instance kernel loaded_config_files log shell",
    HISTORY: "output_hist",
    SESSION: "pid",
}
