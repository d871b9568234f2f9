#!/usr/bin/env python3
"""What an agent does with Sandglass, in half a minute of reading: real calls, real output.

`make up` ends with it. Needs nothing but Python 3.11 and an endpoint (build/endpoint.env, or SANDGLASS_URL and
SANDGLASS_TOKEN in the environment).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import textwrap
import time

from agent import Agent, Answer, Refused

STREAMING = """\
import time
for step in range(1, 4):
    print(f"step {step} of 3", flush=True)
    time.sleep(0.4)
words = ["glass", "sand", "time"]
"""
REMEMBERING = """\
print(sorted(words))
len(words)
"""
FAILING = "words['sand']"


class Unexpected(Exception):
    """The demonstration did not go as it should."""


def say(title: str) -> None:
    print(f"\n\033[1m▸ {title}\033[0m" if sys.stdout.isatty() else f"\n▸ {title}")


def show(text: str, mark: str) -> None:
    print(textwrap.indent(text.rstrip("\n"), f"  {mark} ", lambda _: True), flush=True)


def expect(answer: Answer, status: str) -> Answer:
    if answer["status"] != status:
        raise Unexpected(f"expected status {status}, got {answer['status']}:\n{answer.text}")
    return answer


def run(agent: Agent, sandbox: str, code: str, status: str) -> Answer:
    show(code, "│")
    return expect(agent.call("sandbox_run_code", sandbox=sandbox, code=code), status)


def told_by_kubectl(sandbox: str) -> list[str]:
    """How the pod was started, where there is a cluster to ask: an agent need not know."""
    kubectl = shutil.which("kubectl")
    if kubectl is None or "KUBECONFIG" not in os.environ:
        return []
    asked = [
        "get",
        f"sandboxes.sandglass.dev/{sandbox}",
        "--namespace=sandglass-default",
        "-o=jsonpath={.status.start}",
    ]
    said = subprocess.run([kubectl, *asked], capture_output=True, text=True, check=False).stdout
    return [f"kubectl: {said}"] if said else []


def demonstrate(agent: Agent, sandbox: str) -> None:
    say("sandbox_start: a Sandbox resource, a pod of its own, a Python kernel in it")
    begun = time.monotonic()
    started = agent.call("sandbox_start", sandbox=sandbox)
    if started.failed:
        raise Unexpected(started.text)
    show(f"{started.text}  ({time.monotonic() - begun:.2f} s)", " ")
    for line in told_by_kubectl(sandbox):
        show(line, " ")

    say("sandbox_run_code: output arrives while the code runs")
    show(STREAMING, "│")
    begun = time.monotonic()

    def arrived(chunk: str) -> None:
        for line in chunk.splitlines():
            print(f"    {time.monotonic() - begun:4.1f} s  {line}", flush=True)

    expect(agent.call("sandbox_run_code", arrived, sandbox=sandbox, code=STREAMING), "ok")

    say("sandbox_run_code: the next call still has the variables")
    remembered = run(agent, sandbox, REMEMBERING, "ok")
    show(remembered["stdout"] + str(remembered["result"]), " ")

    say("sandbox_run_code: an exception is an honest error, with its traceback")
    failed = run(agent, sandbox, FAILING, "error")
    show(f"status {failed['status']}: {failed['error']['name']}: {failed['error']['message']}", " ")

    say("sandbox_run_command: any program, with its exit code")
    command = "uname -sr; id -u; exit 3"
    show(f"sh -c '{command}'", "│")
    ran = agent.call("sandbox_run_command", sandbox=sandbox, command="sh", args=["-c", command])
    if ran["exit_code"] != 3:
        raise Unexpected(f"expected exit code 3:\n{ran.text}")
    show(f"{ran['stdout']}exit code {ran['exit_code']}", " ")

    say("sandbox_get_metrics")
    metrics = agent.call("sandbox_get_metrics", sandbox=sandbox)
    if metrics.failed:
        raise Unexpected(metrics.text)
    seen = metrics["sandboxes"][0]
    show(f"{seen['name']}: running {seen['running']}, {seen['memory_usage']} MiB, CPU {seen['cpu_usage']} %", " ")


def main() -> None:
    sandbox = f"demo-{secrets.token_hex(3)}"
    try:
        agent = Agent.from_environment()
        try:
            demonstrate(agent, sandbox)
        finally:
            say("sandbox_stop")
            show(agent.call("sandbox_stop", sandbox=sandbox, delete=True).text, " ")
    except (Refused, Unexpected, KeyError, OSError) as problem:
        sys.exit(f"\ndemo: {problem!r}" if isinstance(problem, KeyError) else f"\ndemo: {problem}")


if __name__ == "__main__":
    main()
