"""Every bound of the supervisor, in one place; units are bytes, seconds or counts as the name says.

The wire's bounds are part of protocol version 1: the gateway reads those it needs from the answer to ``hello``.
"""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * 1024

# The wire.
FRAME_BYTES: Final = 16 * MIB
JSON_BYTES: Final = 256 * KIB
BLOB_BYTES: Final = 8 * MIB
CODE_BYTES: Final = 1 * MIB
REQUEST_ID_BYTES: Final = 32
EXECUTION_ID_BYTES: Final = 255
NAME_BYTES: Final = 63
LABEL_CHARS: Final = 1000  # of what a caller calls a session that has another name here
PEERS: Final = 256
LINK_SEND_MESSAGES: Final = 100_000
CALL_KINDS: Final = 16  # that a gateway answers
CALLS: Final = 64  # to gateways that have no answer yet, of all executions
CALLS_OF_EXECUTION: Final = 32
CALLS_WAITING: Final = 256  # for a gateway, or for others to be answered
LINK_RECEIVE_MESSAGES: Final = 32

# The probe of the network: it connects at once, anew after the first pause and then after longer ones, until its end.
PROBE_PAUSE_S: Final = 0.1
PROBE_PAUSE_GROWTH: Final = 2.0
PROBE_LONGEST_PAUSE_S: Final = 1.0
PROBE_S: Final = 9.0
PROBE_ADDRESSES: Final = 8

# Arguments of verbs.
ENV_COUNT: Final = 256
ENV_NAME_BYTES: Final = 256
ENV_VALUE_BYTES: Final = 32 * KIB
ARG_COUNT: Final = 1024
ARG_BYTES: Final = 128 * KIB - 1  # Linux: MAX_ARG_STRLEN
PATH_BYTES: Final = 4096
TIMEOUT_MAX_S: Final = 86_400.0
PACKAGES: Final = 64
PACKAGE_CHARS: Final = 512

# MCP servers.
MCP_SERVERS: Final = 16
MCP_HEADERS: Final = 64
MCP_HEADER_BYTES: Final = 16 * KIB  # of a header that comes from a Secret
MCP_SECRETS_BYTES: Final = 32 * KIB  # of all that one server gets from Secrets
URL_BYTES: Final = 8 * KIB
SEAT_OPENS_S: Final = 5.0  # a seat whose kernels take longer is to be reached all the same
MCP_START_S: Final = 60.0
MCP_START_MOST_S: Final = 600.0
MCP_TOOLS: Final = 512  # of one server
MCP_TOOLS_BYTES: Final = 4 * MIB  # of JSON that describes them
MCP_CALLS: Final = 32  # at a time of one server
MCP_CALLS_WAITING: Final = 256  # of one server that sandboxes share, those under way included
MCP_CALLS_OF_EXECUTION: Final = 1000  # and as many questions about servers
MCP_TOOLS_CALLED: Final = 64  # that an execution's end tells apart
MCP_REQUEST_BYTES: Final = 8 * MIB  # one frame from code
MCP_RESULT_BYTES: Final = 4 * MIB
MCP_DEPTH: Final = 256  # of values within each other, in what a gateway answers
MCP_GATEWAY_S: Final = 10.0  # that a call waits for a gateway
MCP_SHARED_SERVERS: Final = 256  # that a gateway lists
MCP_SERVERS_ASKED_S: Final = 20.0  # that a gateway has to list them
MCP_TOOLS_ASKED_S: Final = 300.0  # and to list the tools of one, which it may have to start
MCP_LOADED_S: Final = 10.0  # that the functions of a shared server are new enough to be loaded without asking
MCP_FRAME_SLACK_BYTES: Final = 64 * KIB  # of a frame, beside what it carries
MCP_UNSENT_BYTES: Final = 16 * MIB  # to one connection of code, or to one session
MCP_WAITING_BYTES: Final = 32 * MIB  # of all connections, either way, and as much of all sessions
MCP_TURN_S: Final = 0.005  # that one connection has before others have theirs
MCP_LIST_BYTES: Final = 160 * KIB  # of the tools of one answer
MCP_REVISION_CHARS: Final = 64
MCP_CALL_ID_CHARS: Final = 64
MCP_MADE_BYTES: Final = 1 * MIB  # that the generator says
MCP_NOTES: Final = 20
MCP_RESTART_MOST_S: Final = 60.0  # between two starts of a server that ends at once
MCP_SOUND_S: Final = 10.0  # a server that ran so long did not end at once
MCP_RETIRE_S: Final = 30.0  # that a server which was replaced has for its calls
MCP_CHANGES_S: Final = 2.0  # between two times that the functions of one server are written anew
MCP_VALUES: Final = 512 * KIB  # of one frame's JSON
MCP_CONNECTIONS: Final = 256  # of code
MCP_TEXT_CHARS: Final = 256  # of what a server says of itself
MCP_LINE_CHARS: Final = 200  # of a tool's description in a list
MCP_STDERR_BYTES: Final = 4 * KIB
MCP_SESSION_BYTES: Final = 256 * MIB  # of the session process: a server may write a line without end
MCP_GENERATE_S: Final = 120.0
MCP_STOP_S: Final = 3.0

# Files.
FILE_BYTES: Final = 1 * MIB  # of one reading or writing
FILE_DEPTH: Final = 64  # folders below each other; a deletion holds a descriptor for each
FILE_LINKS: Final = 40  # symbolic links on one way, as in the system itself
LIST_ENTRIES: Final = 1000
LIST_ENTRIES_MAX: Final = 10_000
LIST_BYTES: Final = 4 * MIB
FILES_WINDOW_BYTES: Final = 8 * MIB  # read of files and on its way to one gateway
FILES_WAITING: Final = 64  # readings of one gateway that wait for room
DEEDS: Final = 8
DEED_STEP_S: Final = 0.005
DEED_S: Final = 20.0

# Sockets of Python kernels: Linux takes paths of 107 bytes, and ours are <runtime folder>/private/<hex>-<digit>.
SOCKET_NAME_BYTES: Final = 8
RUNTIME_DIR_BYTES: Final = 107 - len("/private/-0") - 2 * SOCKET_NAME_BYTES

# Executions.
QUEUE: Final = 8
COMMANDS: Final = 16
LEFT_PROCESSES: Final = 128  # that one command leaves running
DRAINED_COMMANDS: Final = 32  # that left something running whose output is read to nowhere
PROCESS_BYTES: Final = 2 * MIB  # of the container's memory for each process: a forked kernel writes to 1 to 2
PROCESSES_LEAST: Final = 128
PROCESSES_MOST: Final = 4096
QUESTION_S: Final = 10.0  # how long a program may take that is asked for its configuration
ANSWER_BYTES: Final = 32 * KIB  # of the end of what a program wrote that is looked at
KERNELS: Final = 8  # if the installation says nothing else
KERNELS_MOST: Final = 64
FRESH_GRACE_S: Final = 10.0  # for whoever asked for a fresh kernel to close it
TOLD_SESSIONS: Final = 64  # that hear of a restart before them
JOURNAL_BYTES: Final = 8 * MIB
JOURNAL_EXECUTIONS: Final = 64
JOURNALS_BYTES: Final = 32 * MIB
REMEMBERED_IDS: Final = 4096

# Output.
WINDOW_BYTES: Final = 256 * KIB
RECORD_COST_BYTES: Final = 64
SLICE_BYTES: Final = 64 * KIB
PICTURE_BYTES: Final = 3 * MIB
TEXT_BYTES: Final = 1 * MIB
JSON_RESULT_BYTES: Final = 256 * KIB
HTML_CHARS: Final = 256 * KIB
TRACEBACK_BYTES: Final = 128 * KIB
MESSAGE_CHARS: Final = 4096
DISPLAY_NAME_CHARS: Final = 256  # under which something can be displayed anew; IPython makes names of 32
KERNEL_MESSAGE_BYTES: Final = 8 * MIB
KERNEL_UNSENT_BYTES: Final = 16 * MIB  # requests that a kernel does not take
KERNEL_FRAMES: Final = 8  # of one message; Jupyter's have 6 or 7, and buffers that nobody here needs
KERNEL_HEADER_BYTES: Final = 16 * KIB  # of header, parent header and metadata each
# Of one message's JSON: each may cost the supervisor a hundred bytes, and a traceback may have a line for each byte.
KERNEL_VALUES: Final = TRACEBACK_BYTES + 32 * KIB
KERNEL_TURN_FRAMES: Final = 128
KERNEL_TURN_BYTES: Final = 1 * MIB
STDERR_HEAD_BYTES: Final = 4 * KIB  # of what a Python kernel's process itself wrote: a crash is told at its beginning
STDERR_TAIL_BYTES: Final = 4 * KIB
KEPT_CODE_CHARS: Final = 64 * KIB  # of the code of each run, for ``In`` and ``%history``
BETWEEN_RUNS_BYTES: Final = 64 * KIB  # of what a kernel prints while no run is on, what each piece costs included
LAST_WORDS_BYTES: Final = 512 * KIB  # at least so much of what a kernel wrote before it died

# Pictures, in the kernel's process: from here on they are scaled down, and kept in full size as files.
ENCODED_PICTURE_CHARS: Final = 1 * MIB
PICTURE_SIDE: Final = 8000  # beyond it, endpoints of models refuse a picture and all that it stands in
PICTURE_SEGMENTS: Final = 4096  # of a JPEG before its sides; EXIF and colour profiles take a few dozen
PICTURE_PIXELS: Final = 40_000_000
KEPT_PICTURES: Final = 64
KEPT_PICTURES_BYTES: Final = 64 * MIB

# Time.
ANSWER_WAIT_S: Final = 0.005
STALL_S: Final = 30.0
INTERRUPT_GRACE_S: Final = 2.0
CONNECT_AGAIN_S: Final = 0.002
SEND_AGAIN_S: Final = 0.001
BEGUN_LOOK_S: Final = 0.01
IDLE_GRACE_S: Final = 2.0
DEATH_GRACE_S: Final = 0.02
LAST_MESSAGES_S: Final = 2.0
PIPE_GRACE_S: Final = 0.2
DRAIN_PAUSE_S: Final = 0.02
EXEC_S: Final = 2.0
GROUP_LOOK_S: Final = 0.02
HUNT_S: Final = 2.0
HUNT_PAUSE_S: Final = 0.005
LOOK_FIRST_S: Final = 0.05
LOOK_LAST_S: Final = 1.0
ENV_PROBE_S: Final = 15.0
KERNEL_START_S: Final = 60.0
RESUBSCRIBE_S: Final = 5.0
CPU_SAMPLE_S: Final = 5.0
DISK_FRESH_S: Final = 10.0
DISK_WAIT_S: Final = 1.0
