"""Records messages of a real Jupyter kernel for the tests; run by hand when ipykernel has changed.

The kernel is ipykernel as it is installed, not ours: what another one says is what our reader must agree on.
"""

import json
import sys
from importlib.metadata import version
from typing import Any

import zmq
from jupyter_client.manager import KernelManager
from recorded import CORPUS, to_text

_KEY = b"a-key-for-tests-only"
_DISPLAYS = """
from IPython.display import HTML, JSON, display, update_display, clear_output
display(HTML("<b>é</b>"), {"application/x-raw": {"a": [1, 2.5, None]}}, raw=False)
display("first", display_id="d1"); update_display("second", display_id="d1")
clear_output(wait=True)
"""
_PICTURE = """
from IPython.display import Image, display
from base64 import b64decode
display(Image(b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")))
"""
_COMM = """
from comm import create_comm
comm = create_comm(target_name="test", data={"x": 1})
comm.send({"y": "é"}, buffers=[b"\\x00\\xff", b"more"])
comm.close()
"""
_RUNS = {
    "streams": "import sys; print('é 😀'); print('err', file=sys.stderr)",
    "value": "{'a': [1, 'é']}",
    "error": "raise ValueError('no')",
    "displays": _DISPLAYS,
    "picture": _PICTURE,
    "comm": _COMM,
    "pager": "len?",
    "nothing": "pass",
}


class _Recorder:
    def __init__(self, manager: KernelManager) -> None:
        self.manager = manager
        self.messages: list[dict[str, Any]] = []
        self.shell = manager.connect_shell(identity=b"recorder")
        self.iopub = manager.connect_iopub()
        self.stdin = manager.connect_stdin(identity=b"recorder")
        self.control = manager.connect_control(identity=b"recorder")

    def ask(self, name: str, kind: str, content: dict[str, Any], *, control: bool = False, quiet: bool = False) -> None:
        session = self.manager.session
        request = session.msg(kind, content)
        frames = session.serialize(request)
        socket = self.control if control else self.shell
        socket.send_multipart(frames)
        if not quiet:
            self._keep(name, "request", [bytes(frame) for frame in frames])
        self._listen(name, socket, request["header"]["msg_id"], quiet=quiet)

    def _listen(self, name: str, socket: Any, msg_id: str, *, quiet: bool) -> None:
        idle = replied = False
        poller = zmq.Poller()
        for source in (socket, self.iopub, self.stdin):
            poller.register(source, zmq.POLLIN)
        while not (idle and replied):
            ready = dict(poller.poll(20_000))
            if not ready:
                sys.exit(f"the kernel says nothing more of '{name}'")
            for source in ready:
                frames = source.recv_multipart()
                _, kind, parent, said = self._read(frames)
                if not quiet:
                    self._keep(name, kind, frames)
                mine = parent == msg_id
                idle |= mine and kind == "status" and said.get("execution_state") == "idle"
                replied |= mine and source is socket
                if source is self.stdin:
                    answer = self.manager.session.msg("input_reply", {"value": "Ann"})
                    frames = self.manager.session.serialize(answer)
                    self._keep(name, "input_reply", frames)
                    self.stdin.send_multipart(frames)

    def _read(self, frames: list[bytes]) -> tuple[str, str, str, dict[str, Any]]:
        start = frames.index(b"<IDS|MSG>")
        header, parent, _, content = (json.loads(frame) for frame in frames[start + 2 : start + 6])
        return header["msg_id"], header["msg_type"], parent.get("msg_id", ""), content

    def _keep(self, name: str, kind: str, frames: list[bytes]) -> None:
        shown = [to_text(bytes(frame)) for frame in frames]
        self.messages.append({"name": f"{name}: {kind}", "frames": shown})


def main() -> None:
    """Start a kernel, ask it everything, write the file."""
    manager = KernelManager(kernel_name="python3", transport="tcp")
    manager.session.key = _KEY
    manager.session.username = "recorder"
    manager.start_kernel()
    try:
        recorder = _Recorder(manager)
        recorder.ask("warm-up", "kernel_info_request", {}, quiet=True)
        recorder.ask("info", "kernel_info_request", {})
        base = {"silent": False, "store_history": True, "user_expressions": {}, "stop_on_error": True}
        for name, code in _RUNS.items():
            recorder.ask(name, "execute_request", {"code": code, "allow_stdin": False, **base})
        recorder.ask("question", "execute_request", {"code": "input('Name? ')", "allow_stdin": True, **base})
        recorder.ask("complete", "complete_request", {"code": "imp", "cursor_pos": 3})
        recorder.ask("inspect", "inspect_request", {"code": "len", "cursor_pos": 3, "detail_level": 0})
        recorder.ask("is complete", "is_complete_request", {"code": "for i in range(3):"})
        recorder.ask("comms", "comm_info_request", {})
        recorder.ask("history", "history_request", {"hist_access_type": "tail", "n": 2, "output": False, "raw": True})
        recorder.ask("interrupt", "interrupt_request", {}, control=True)
        recorder.ask("shutdown", "shutdown_request", {"restart": False}, control=True)
    finally:
        manager.shutdown_kernel(now=True)
    about = {"recorded_with": f"ipykernel {version('ipykernel')}", "key": _KEY.decode(), "messages": recorder.messages}
    CORPUS.write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
