"""Files of the node that the container has: the supervisor begins only where code cannot write to them."""

from pathlib import Path

from supervisors import FIRST_PROCESS, UNPRIVILEGED, Running, needs_root

from sandglass_supervisor import mounted_files
from sandglass_supervisor.image_check import EXIT_CODE

LINES = """
21 1 254:0 / / rw,relatime - ext4 /dev/root rw
22 21 0:5 / /dev rw - tmpfs none rw
23 22 254:0 /x /dev/termination-log rw - ext4 /dev/root rw
24 21 254:0 /y /data/with\\040space\\134 rw - ext4 /dev/root rw
25 21 254:0 /y /database rw - ext4 /dev/root rw
26 21
"""


def test_each_mounted_file_is_looked_at_but_for_volumes() -> None:
    looked: list[str] = []

    def can(path: str) -> bool:
        looked.append(path)
        return len(path) > len("/dev")

    found = list(mounted_files._writable(iter(LINES.splitlines()), (), can))
    assert found == ["/dev/termination-log", "/data/with space\\", "/database"]
    assert looked == ["/", "/dev", *found]
    assert list(mounted_files._writable(iter(LINES.splitlines()), ("/data",), can)) == [found[0], found[2]]


def test_what_is_asked_for_fits_into_the_line_that_the_operator_reads() -> None:
    words = mounted_files.words("/" + "é\n\udc80" * 200)
    assert len(words) <= 200
    assert words.isascii()
    assert words.isprintable()


@needs_root
def test_no_supervisor_begins_where_code_can_write_to_a_file_of_the_node(folder: Path) -> None:
    log = folder / "written"
    log.touch()
    log.chmod(0o666)
    unshare = FIRST_PROCESS[: -len(UNPRIVILEGED)]
    mount = ["sh", "-c", f'mount --bind {log} {log} && exec "$@"', "sh"]
    running = Running(folder, [*unshare, *mount, *UNPRIVILEGED])
    try:
        assert running.process.wait(60) == EXIT_CODE
        assert running.log.read_text() == f"image-lacks: {mounted_files.words(str(log))}\n"
    finally:
        running.stop()
