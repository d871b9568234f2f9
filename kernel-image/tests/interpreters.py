"""Other interpreters than the image's, as tests put them into a sandbox."""

import subprocess
import sys
from pathlib import Path

import ipykernel
from client import Client, Output

WHERE = "import sys, os; print(sys.prefix, end='')"


def venv(folder: Path) -> Path:
    """An environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def site_of(folder: Path) -> Path:
    (site,) = folder.glob("lib/python*/site-packages")
    return site


def with_ipykernel(folder: Path) -> Path:
    """An environment that finds the packages of the checking one, without the supervisor's own."""
    packages = Path(ipykernel.__file__).parents[1]
    (site_of(venv(folder)) / "packages.pth").write_text(f"{packages}\n")
    return folder


def script(folder: Path, text: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    python.write_text(text)
    python.chmod(0o755)
    return folder


def outcome(output: Output) -> dict[str, object]:
    assert output.outcome is not None
    return output.outcome


def sessions(client: Client) -> dict[str, str | None]:
    return {kernel["session"]: kernel["python_env"] for kernel in client.ask("list")["kernels"]}
