"""Tries to get out of the walls inside a pod, and at the supervisor that is PID 1 there.

Runs unchanged in a sandbox and in the control pod, where every attack must succeed. attack() returns one finding per
attack: whether it succeeded, and how that showed. Nothing here does harm where it succeeds.
"""

import ctypes
import errno
import fcntl
import glob
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE = 0x4206
CLONE_NEWUSER = 0x10000000
SYS_PIDFD_GETFD = 438
PIDFD_SEND_SIGNAL = 424
RT_SIGQUEUEINFO, TGKILL = {"x86_64": (129, 234), "aarch64": (138, 131)}[os.uname().machine]
FIOSETOWN = 0x8901
RLIMIT_LOCKS = 10


class Held(Exception):
    """The wall held."""


def require(condition, seen):
    """The attack goes on if the condition is true; what was seen is told either way."""
    if not condition:
        raise Held(seen)
    return seen


def status(field):
    with open("/proc/self/status") as lines:
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(field + ":"))


def libc(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(LIBC, name)(*arguments)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def succeeds(code):
    """Runs code in a process of its own, which has one thread and takes what it changed along."""
    exit_code = subprocess.run([sys.executable, "-c", code], check=False).returncode
    return require(exit_code == 0, f"exit code {exit_code}")


def service_account_token():
    found = glob.glob("/var/run/secrets/**/token", recursive=True)
    return require(found and open(found[0]).read(), f"found {found}")


def write_root_file_system():
    for place in ("/sandglass-was-here", "/etc/sandglass-was-here", "/usr/bin/sandglass-was-here"):
        with open(place, "w") as file:
            file.write("x")
        os.unlink(place)
    return "wrote"


def capabilities():
    sets = {name: int(status(name), 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    return require(any(sets.values()), str(sets))


def new_privileges():
    return require(status("NoNewPrivs") == "0", "NoNewPrivs " + status("NoNewPrivs"))


def no_seccomp_filter():
    return require(status("Seccomp") != "2", "Seccomp " + status("Seccomp"))


def another_user():
    # Each sandbox has a uid of its own above those of the node's users, or 65532 in a user namespace; the group is one.
    users = set(os.getresuid())
    own = len(users) == 1 and min(users) >= 65532
    return require(not own or os.getresgid() != (65532,) * 3, f"{os.getresuid()}")


def root_by_setuid():
    try:
        os.setuid(0)
    except OSError:
        for program in ("/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount"):
            if os.path.exists(program) and os.stat(program).st_mode & stat.S_ISUID:
                require(effective_user_of(program) == 0, f"{program} ran without root")
    return require(os.geteuid() == 0, f"euid {os.geteuid()}")


def effective_user_of(program):
    running = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        with open(f"/proc/{running.pid}/status") as lines:
            return next(int(line.split()[2]) for line in lines if line.startswith("Uid:"))
    finally:
        running.kill()
        running.communicate()


def read_environment_of_pid_1():
    return f"{len(open('/proc/1/environ', 'rb').read())} bytes"


def open_memory_of_pid_1():
    with open("/proc/1/mem", "rb"):
        return "opened"


def read_maps_of_pid_1():
    with open("/proc/1/maps") as maps:
        text = maps.read()
        return require(text, f"{len(text)} characters")


def list_descriptors_of_pid_1():
    return str(os.listdir("/proc/1/fd"))


def enter_root_of_pid_1():
    return str(len(os.listdir("/proc/1/root/")))


def trace_pid_1():
    return succeeds(f"import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace({PTRACE_SEIZE}, 1, 0, 0) != 0)")


def read_memory_of_pid_1():
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(8)
    local, remote = Vector(ctypes.addressof(buffer), 8), Vector(0x400000, 8)
    try:
        libc("process_vm_readv", 1, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise
        return "allowed, though nothing is at that address"
    return "read"


def steal_descriptor_of_pid_1():
    # Whoever may not open a pidfd has the folder of /proc for one.
    try:
        process = os.pidfd_open(1)
    except PermissionError:
        process = os.open("/proc/1", os.O_RDONLY)
    try:
        os.close(libc("syscall", SYS_PIDFD_GETFD, process, 1, 0))
    finally:
        os.close(process)
    return "stolen"


def limit_pid_1():
    # The attack that matters is RLIMIT_CPU, which kills; core dumps pass the same check and do no harm.
    soft_and_hard = resource.prlimit(1, resource.RLIMIT_CORE)
    resource.prlimit(1, resource.RLIMIT_CORE, soft_and_hard)
    return str(soft_and_hard)


def mount_something():
    os.makedirs("/tmp/mounted", exist_ok=True)
    libc("mount", b"none", b"/tmp/mounted", b"tmpfs", 0, None)
    libc("umount2", b"/tmp/mounted", 2)
    return "mounted"


def become_root_in_a_user_namespace():
    return succeeds(f"import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare({CLONE_NEWUSER}) != 0)")


def make_a_device():
    os.mknod("/tmp/device", stat.S_IFBLK | 0o600, os.makedev(7, 0))
    os.unlink("/tmp/device")
    return "made"


def raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "opened"


def packet_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "opened"


def raise_own_memory_limit():
    files = glob.glob("/sys/fs/cgroup/memory/memory.limit_in_bytes") + glob.glob("/sys/fs/cgroup/memory.max")
    require(files, "no limit file")
    with open(files[0], "r+") as limit:
        value = limit.read()
        limit.seek(0)
        limit.write(value)
    return "written"


def change_a_kernel_setting():
    with open("/proc/sys/net/ipv4/ip_default_ttl", "r+") as setting:
        value = setting.read()
        setting.seek(0)
        setting.write(value)
    return "written"


def write_to_a_file_of_the_node():
    # Files that are mounted by themselves lie on the node, outside of every limit; nothing is changed.
    with open("/proc/self/mountinfo") as mounts:
        places = [line.split()[4] for line in mounts]
    files = [place for place in places if os.path.isfile(place)]
    written = []
    for place in [*files, "/dev/termination-log"]:
        try:
            os.close(os.open(place, os.O_WRONLY))
            written.append(place)
        except OSError:
            continue
    return require(written, f"{written} of {files}")


def queue_a_signal_of_nobody_to_pid_1():
    # Number 0 only asks whether it may be sent; SI_QUEUE, of pid 0.
    libc("syscall", RT_SIGQUEUEINFO, 1, 0, struct.pack("=iii", 0, 0, -1).ljust(128, b"\0"))
    return "may be sent"


def signal_a_thread_of_pid_1():
    libc("syscall", TGKILL, 1, 1, 0)
    return "may be sent"


def send_pid_1_a_signal_of_nobody_by_pidfd():
    descriptor = os.open("/proc/1", os.O_RDONLY)
    try:
        libc("syscall", PIDFD_SEND_SIGNAL, descriptor, 0, struct.pack("=iii", 0, 0, -1).ljust(128, b"\0"), 0)
    finally:
        os.close(descriptor)
    return "may be sent"


def have_pid_1_told_of_a_socket():
    with socket.socket() as own:
        fcntl.fcntl(own, fcntl.F_SETOWN, 1)
        return require(fcntl.fcntl(own, fcntl.F_GETOWN) == 1, "not owned")


def have_pid_1_told_of_a_socket_by_ioctl():
    with socket.socket() as own:
        fcntl.ioctl(own, FIOSETOWN, struct.pack("=i", 1))
        return require(fcntl.fcntl(own, fcntl.F_GETOWN) == 1, "not owned")


def lower_its_own_mark():
    return succeeds(f"import resource; resource.setrlimit({RLIMIT_LOCKS}, (0, 0))")


def go_after_pid_1_when_memory_ends():
    with open("/proc/1/oom_score_adj") as first, open("/proc/self/oom_score_adj") as own:
        scores = int(first.read()), int(own.read())
    return require(scores[0] >= scores[1], f"{scores}")


ATTACKS = (
    write_to_a_file_of_the_node,
    queue_a_signal_of_nobody_to_pid_1,
    signal_a_thread_of_pid_1,
    send_pid_1_a_signal_of_nobody_by_pidfd,
    have_pid_1_told_of_a_socket,
    have_pid_1_told_of_a_socket_by_ioctl,
    lower_its_own_mark,
    go_after_pid_1_when_memory_ends,
    service_account_token,
    write_root_file_system,
    capabilities,
    new_privileges,
    no_seccomp_filter,
    another_user,
    root_by_setuid,
    read_environment_of_pid_1,
    open_memory_of_pid_1,
    read_maps_of_pid_1,
    list_descriptors_of_pid_1,
    enter_root_of_pid_1,
    trace_pid_1,
    read_memory_of_pid_1,
    steal_descriptor_of_pid_1,
    limit_pid_1,
    mount_something,
    become_root_in_a_user_namespace,
    make_a_device,
    raw_socket,
    packet_socket,
    raise_own_memory_limit,
    change_a_kernel_setting,
)
DEADLY = [signal.Signals(number) for number in (1, 2, 3, 6, 10, 11, 12, 13, 14, 15, 19, 20, 9)]


def send_pid_1(numbers):
    """Sends it these signals; what came of each."""
    found = []
    for number in numbers:
        try:
            os.kill(1, number)
            found.append("sent")
        except OSError as error:
            found.append(repr(error))
    return found


def attempt(function):
    try:
        return {"name": function.__name__, "reached": True, "how": function()}
    except (Held, OSError) as wall:
        return {"name": function.__name__, "reached": False, "how": repr(wall)}


def attack(_=None):
    return [attempt(function) for function in ATTACKS]
