"""Which image `docker run …` starts, of the arguments of an MCP server's entry. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# What has no value behind it. Of an option that stands in neither list, what follows is unknown.
_FLAG_NAMES = (
    "detach disable-content-trust help init interactive no-healthcheck no-hosts oom-kill-disable privileged "
    "publish-all quiet read-only replace rm rmi sig-proxy tty use-api-socket"
)
_NAMES_WITH_VALUE = (
    "add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop cgroup-parent cgroupns cidfile "
    "cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus "
    "cpuset-mems detach-keys device device-cgroup-rule device-read-bps device-read-iops device-write-bps "
    "device-write-iops dns dns-option dns-search domainname entrypoint env env-file expose gpus group-add "
    "health-cmd health-interval health-retries health-start-interval health-start-period health-timeout hostname "
    "io-maxbandwidth io-maxiops ip ip6 ipc isolation kernel-memory label label-file link link-local-ip log-driver "
    "log-opt mac-address memory memory-reservation memory-swap memory-swappiness mount name net net-alias network "
    "network-alias oom-score-adj pid pids-limit platform publish pull restart runtime security-opt shm-size "
    "stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from "
    "workdir"
)
_FLAGS = frozenset(_FLAG_NAMES.split())
_WITH_VALUE = frozenset(_NAMES_WITH_VALUE.split())
_SHORT_FLAGS = frozenset("dPitq")
_SHORT_WITH_VALUE = frozenset("acehlmpuvw")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-/:@]{0,254}")


def image(args: Sequence[str]) -> str:
    """The image; empty if the arguments leave it open. Never a word that may be another one, such as a key."""
    rest = iter(args)
    word = next(rest, "")
    if word == "container":
        word = next(rest, "")
    if word != "run":
        return ""
    for word in rest:
        if word == "--":
            return _checked(next(rest, ""))
        if not word.startswith("-"):
            return _checked(word)
        if not _passed_over(word, rest):
            return ""
    return ""


def _passed_over(option: str, rest: Iterator[str]) -> bool:
    """Takes the option's value too, if it stands apart; False if the option is unknown."""
    if option.startswith("--"):
        name, has_value, _ = option[2:].partition("=")
        if not has_value and name in _WITH_VALUE:
            next(rest, "")
        return bool(has_value) or name in _WITH_VALUE or name in _FLAGS
    for number, letter in enumerate(option[1:], 2):
        if letter in _SHORT_WITH_VALUE:
            if number == len(option):
                next(rest, "")
            return True
        if letter not in _SHORT_FLAGS:
            return False
    return len(option) > 1


def _checked(word: str) -> str:
    return word if _IMAGE.fullmatch(word) else ""
