"""What a run found of the operator, in words, and what of it is worse than promised (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Result = dict[str, Any]

READY_ADDS_MS = 60.0
RESOURCE_TO_POD_P99_MS = 50.0
SUSPENDED_OPERATOR_MIB = 160.0


def lines(result: Result) -> Iterator[str]:
    if cold := result.get("cold_start"):
        yield f"  resource to Ready adds {cold['ready_adds_ms']:.0f} ms at p50 to the bare pod"
    if rate := result.get("rate"):
        steps = ", ".join(f"{step} {taken:.1f}" for step, taken in rate["api_server_ms"].items())
        yield (
            f"  resource to pod, {rate['per_second']} per second: the API server's part is "
            f"{rate['api_server_share']:.0%} (ms of a creation: {steps}); the operator uses "
            f"{rate['operator_cpu_ms']:.1f} ms of a processor for each until it is Ready"
        )
    if asleep := result.get("suspended"):
        yield (
            f"  operator: {asleep['empty_rss_mib']:.0f} MiB RSS without sandboxes, "
            f"{asleep['running_rss_mib']:.0f} with {asleep['sandboxes']} running, "
            f"{asleep['rss_mib']:.0f} with as many suspended"
        )
    if scale := result.get("scale"):
        then = scale["successor"]
        yield (
            f"  {scale['sandboxes']} sandboxes: made in {scale['created_s']:.0f} s, all run after "
            f"{scale['all_running_s']:.0f}; the operator holds {scale['rss_mib']:.0f} MiB RSS, at most "
            f"{scale['most_rss_mib']:.0f}"
        )
        yield (
            f"  at rest, in {scale['quiet_s']} s: {scale['quiet_writes']} writes of the operator, "
            f"{scale['changed_resources']} changed resources"
        )
        yield (
            f"  a new operator went through them in {then['all_seen_s']:.0f} s with {then['writes']} writes, "
            f"and holds {then['rss_mib']:.0f} MiB RSS, at most {then['most_rss_mib']:.0f}"
        )


def timings(result: Result) -> Iterator[tuple[str, dict[str, float]]]:
    if rate := result.get("rate"):
        yield "resource seen to pod seen", rate["resource_to_pod_ms"]
        yield "resource asked for to pod seen", rate["request_to_pod_ms"]
        yield "plain pod asked for to seen", rate["plain_pod_ms"]


def gates(result: Result) -> Iterator[tuple[str, float, float]]:
    if cold := result.get("cold_start"):
        yield "what resource to Ready adds to the bare pod at p50, in ms,", cold["ready_adds_ms"], READY_ADDS_MS
    if rate := result.get("rate"):
        yield "resource to pod at p99, in ms,", rate["resource_to_pod_ms"]["p99"], RESOURCE_TO_POD_P99_MS
    if asleep := result.get("suspended"):
        holds = f"the operator with {asleep['sandboxes']} suspended sandboxes, in MiB of RSS,"
        yield holds, asleep["rss_mib"], SUSPENDED_OPERATOR_MIB
    if scale := result.get("scale"):
        yield f"the number of writes with {scale['sandboxes']} sandboxes at rest", scale["quiet_writes"], 0
        yield "the number of resources that changed meanwhile", scale["changed_resources"], 0
        yield "the number of writes of a new operator that goes through them", scale["successor"]["writes"], 0
