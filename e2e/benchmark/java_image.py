"""A Java program as its image runs it, but as a process of this machine: same files, flags, memory limit and cache."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import subprocess

from .cluster_api import ROOT
from .cold_start import Failed

FOLDER = ROOT / "build/bench"


@dataclasses.dataclass(frozen=True)
class JavaImage:
    """What images/build laid out for the image of one module."""

    module: str  # of Maven, and the name of its jar
    component: str  # its part of the chart's values

    @property
    def folder(self) -> pathlib.Path:
        return ROOT / self.module / "target/image"

    @property
    def cache(self) -> pathlib.Path:
        return FOLDER / f"{self.component}.aot"

    def environment(self) -> dict[str, str]:
        """The image's plain variables; options for Java are part of the command."""
        return dict(re.findall(r"^ENV (\w+)=(\w+)$", self._dockerfile(), re.MULTILINE))

    def command(self) -> list[str]:
        """The image's entry point, with its paths moved here and its container's memory limit made explicit."""
        dockerfile = self._dockerfile()
        entry = re.search(r"^ENTRYPOINT (\[.*\])$", dockerfile, re.MULTILINE)
        options = re.search(r'^ENV JAVA_TOOL_OPTIONS="(.*)"$', dockerfile, re.MULTILINE)
        values = (ROOT / "helm/sandglass/values.yaml").read_text()
        limits = rf"^{self.component}:\n(?:(?: .*)?\n)*?  resources: .*\blimits: {{memory: (\d+)Mi}}"
        limit = re.search(limits, values, re.MULTILINE)
        if entry is None or options is None or limit is None:
            raise Failed(
                f"entry point and options of the image, or the memory limit, of the {self.component} not found"
            )
        words: list[str] = json.loads(entry[1])
        moved = [re.sub(r"/app/\w+\.aot", str(self.cache), word) for word in words[1:]]
        place = moved.index("@/app/java.args")
        fixed = [self.java(), f"-XX:MaxRAM={limit[1]}m", *options[1].split()]
        return [*fixed, *moved[:place], *self.arguments(), *moved[place + 1 :]]

    def _dockerfile(self) -> str:
        return (self.folder / "Dockerfile").read_text().replace("\\\n", "")

    def java(self) -> str:
        return str(self.folder / "runtime/bin/java")

    def arguments(self) -> list[str]:
        """Collector and class path."""
        try:
            words = (self.folder / "app/java.args").read_text().split()
        except FileNotFoundError:
            raise Failed(f"{self.folder} is not laid out; run `make images`") from None
        return [re.sub(r"(?:^|(?<=:))/app/", f"{self.folder}/app/", word) for word in words]

    def train(self, training: str, program: str) -> None:
        """Makes the AOT cache as the image's build does, unless it is of these files already.

        `training` is the class that starts the main class `program` before its stand-ins, calls it and ends it.
        """
        made_of = max(file.stat().st_mtime for file in (self.folder / "app").rglob("*"))
        if self.cache.exists() and self.cache.stat().st_mtime > made_of:
            return
        print(f"  making the AOT cache of the {self.component}", flush=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        places = ["training/classes", "training/lib/*", "app/lib/*"]
        path = ":".join(str(self.folder / place) for place in places)
        trained = [self.java(), f"-XX:AOTCacheOutput={self.cache}", *self.arguments(), program]
        words = [self.java(), "-cp", path, training, *trained]
        log_file = FOLDER / f"{self.component}-training.log"
        with log_file.open("wb") as log, start(words, {}, log.fileno()) as process:
            if process.wait() != 0:
                raise Failed(f"the training of the {self.component} failed, see {log_file}")


def start(words: list[str], settings: dict[str, str], log: int) -> subprocess.Popen[bytes]:
    # Nothing of the caller's: options for Java, a proxy or a kubeconfig would make it another program.
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **settings}
    # It ends with whoever measures it, however that ends.
    return subprocess.Popen(
        ["/usr/bin/setpriv", "--pdeathsig=KILL", "--", *words],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )


def memory_mib(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Resident memory: what it holds now, and the most it ever held."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    now, most = (re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE) for field in ("VmRSS", "VmHWM"))
    if now is None or most is None:
        raise Failed("the process has ended")
    return round(int(now[1]) / 1024, 1), round(int(most[1]) / 1024, 1)


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """What it has used of processors so far, in user and system mode."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
