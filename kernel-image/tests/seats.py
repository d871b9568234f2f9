"""What tests of seats share: supervisors that wait for their sandbox, and the verb that ends the waiting."""

import json
from pathlib import Path
from typing import Any

from client import Client
from supervisors import Running

SEAT, SANDBOX = "seat-1", "sandbox-1"
# A seat has no environment of a sandbox at its start.
BARE = ("env", "-u", "SANDGLASS_ENV")


def seat(folder: Path, languages: str = "python,javascript", *, prefix: tuple[str, ...] = (), **more: Any) -> Running:
    """A seat that was started in a folder of its own."""
    folder.mkdir(exist_ok=True)
    settings = {
        "SANDGLASS_SEAT": "true",
        "SANDGLASS_SEAT_LANGUAGES": languages,
        "SANDGLASS_SANDBOX_UID": SEAT,
        "SANDGLASS_INCARNATION": "0",
    }
    return Running(folder, [*prefix, *BARE], **{**settings, **more})


def configure(client: Client, *env: dict[str, str], **more: Any) -> dict[str, Any]:
    """Make it a sandbox's pod, with these variables; ``more`` may be what no gateway would say."""
    wanted = {"sandbox_uid": SANDBOX, "incarnation": 1, "env": env[0] if env else {}}
    return client.ask("configure", **{**wanted, **more})


def python_env(client: Client, execution_id: str, **more: Any) -> dict[str, str]:
    """The environment as code in Python finds it."""
    output = client.run(execution_id, "import json, os\nprint(json.dumps(dict(os.environ)))", **more)
    return dict(json.loads(output.text()))


def node_env(client: Client, execution_id: str, **more: Any) -> dict[str, str]:
    """The environment as code in Node finds it."""
    output = client.run(execution_id, "console.log(JSON.stringify(process.env))", language="nodejs", **more)
    return dict(json.loads(output.text()))


def command_env(client: Client, execution_id: str) -> dict[str, str]:
    """The environment as a command finds it."""
    output = client.command(execution_id, "env", "-0")
    return dict(entry.split("=", 1) for entry in output.text().split("\0") if entry)
