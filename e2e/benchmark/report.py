"""What a run found, in words, and what of it is worse than promised (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import conversations, egress_report, operator_report, pool, shared_tools, tools

Result = dict[str, Any]

COLD_START_RATIO = 2.5
OVERHEAD_P50_MS = 1.5
OVERHEAD_P99_MS = 6.0
RESET_MS = 800.0
CROWD_P99_BY_P50 = 20.0
POD_PSS_MIB = 60.0
KILLED_MS = 300.0
OOM_MS = 1000.0
STUCK_MS = 3000.0
NEIGHBOUR_P99_RATIO = 3.0
FLOOD_GATEWAY_MIB = 64.0
FLOOD_SUPERVISOR_MIB = 96.0
LINKS_GATEWAY_MIB = 512.0


def text(result: Result) -> str:
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    yield from _table(result)
    if cold := result.get("cold_start"):
        spread = cold["ratio_of_rounds"]
        yield (
            f"  first result / bare pod: {cold['ratio']:.2f} (rounds: p50 {spread['p50']:.2f}, p90 {spread['p90']:.2f})"
        )
    yield from pool.lines(result)
    yield from operator_report.lines(result)
    yield from egress_report.lines(result)
    if over := result.get("overhead"):
        yield f"  overhead of 1+1: p50 {over['overhead_p50_ms']:.2f} ms, p99 {over['overhead_p99_ms']:.2f} ms"
    yield from _hardships(result)
    if crowd := result.get("crowd"):
        yield (
            f"  {crowd['sandboxes']} sandboxes at once: p99 is {crowd['p99_by_single_p50']:.1f} x one sandbox's p50, "
            f"{len(crowd['errors'])} errors, at most {crowd['pod_pss_mib']['max']:.1f} MiB PSS in a pod"
        )
    if both := result.get("ipybox"):
        for name in ("ipybox", "sandglass"):
            one = both[name]
            yield (
                f"  {name:9}: 1+1 in {one['calls_ms']['p50']:.1f} ms ({one['lost_results']} of {both['calls']} answers "
                f"were empty), {one['returned_bytes']:,} of "
                f"{both['printed_bytes']:,} bytes printed came back, reset in {one['reset_ms']:.0f} ms, "
                f"a killed kernel noticed after {one['killed_kernel_noticed_ms']:.0f} ms"
            )
    yield from tools.lines(result)
    yield from shared_tools.lines(result)
    yield from conversations.lines(result)
    if many := result.get("links"):
        yield (
            f"  {many['links']} links: the gateway holds {many['rss_mib']:.1f} MiB RSS, at most "
            f"{many['most_rss_mib']:.1f}, without links {many['without_links_rss_mib']:.1f}; "
            f"{many['threads']} threads, {many['open_files']} open files"
        )
    for name, found in result.get("memory", {}).items():
        for each in found if isinstance(found, list) else [found]:
            yield f"  {name}: {each['rss_mib']} MiB RSS, {each['pss_mib']} MiB PSS"


def _table(result: Result) -> Iterator[str]:
    timings = list(_timings(result))
    if timings:
        yield "\n                                   p50       p90       p99"
    for title, figures in timings:
        yield f"  {title:31} {figures['p50']:7.1f}   {figures['p90']:7.1f}   {figures['p99']:7.1f} ms"
    yield ""


def _hardships(result: Result) -> Iterator[str]:
    for name, each in result.get("flood", {}).items():
        yield (
            f"  100 MB {name.replace('_', ' ')}: {each['mb_per_s']:.1f} MB/s, gateways grew by "
            f"{each['gateway_grew_mib']:.1f} MiB, supervisor at most {each['supervisor_rss_mib']:.1f} MiB RSS"
        )
    for name, each in result.get("neighbour", {}).items():
        yield (
            f"  neighbour of a bomb of {name}: p99 {each['before_ms']['p99']:.1f} ms before, "
            f"{each['meanwhile_ms']['p99']:.1f} meanwhile, {each['after_ms']['p99']:.1f} after"
        )


def _timings(result: Result) -> Iterator[tuple[str, dict[str, float]]]:
    if cold := result.get("cold_start"):
        yield "bare pod: create to Ready", cold["bare_pod_ms"]
        yield "resource: create to Ready", cold["resource_to_ready_ms"]
        yield "sandbox_start", cold["sandbox_start_ms"]
        yield "sandbox_start to first result", cold["first_result_ms"]
    yield from pool.timings(result)
    if over := result.get("overhead"):
        yield "1+1 through the gateway", over["through_the_gateway_ms"]
        yield "1+1 on the kernel's own sockets", over["on_own_sockets_ms"]
    if reset := result.get("resets"):
        yield "sandbox_reset to first result", reset
    if ends := result.get("endings"):
        yield "kernel killed to answer", ends["killed_ms"]
        yield "out of memory to answer", ends["oom_ms"]
        yield "stuck in C: past its time-out", ends["stuck_past_timeout_ms"]
    if crowd := result.get("crowd"):
        yield "1+1 in one of many, alone", crowd["alone_ms"]
        yield "1+1 in all of them at once", crowd["at_once_ms"]
    if many := result.get("links"):
        yield "call to a stub that opens a link", many["opening_ms"]
        yield "call to a stub, all links open", many["alone_ms"]
        yield f"the same by {many['callers']} at once", many["at_once_ms"]
    yield from tools.timings(result)
    yield from shared_tools.timings(result)
    yield from operator_report.timings(result)
    yield from egress_report.timings(result)


def broken_gates(result: Result) -> list[str]:
    """In words; empty if all holds. What was not measured is not judged."""
    return [f"{what} is {found:.2f}, more than {most}" for what, found, most in _gates(result) if found > most]


def _gates(result: Result) -> Iterator[tuple[str, float, float]]:
    if cold := result.get("cold_start"):
        yield "first result / bare pod", cold["ratio"], COLD_START_RATIO
    if over := result.get("overhead"):
        yield "the overhead of 1+1 at p50, in ms,", over["overhead_p50_ms"], OVERHEAD_P50_MS
        yield "the overhead of 1+1 at p99, in ms,", over["overhead_p99_ms"], OVERHEAD_P99_MS
    if reset := result.get("resets"):
        yield "a reset at p50, in ms,", reset["p50"], RESET_MS
    if ends := result.get("endings"):
        yield "a killed kernel's answer, in ms at most,", ends["killed_ms"]["max"], KILLED_MS
        yield "an out-of-memory kernel's answer, in ms at most,", ends["oom_ms"]["max"], OOM_MS
        yield "the end of code stuck in C, in ms past its time-out,", ends["stuck_past_timeout_ms"]["max"], STUCK_MS
    for name, each in result.get("flood", {}).items():
        yield f"the gateways' growth in the flood {name}, in MiB,", each["gateway_grew_mib"], FLOOD_GATEWAY_MIB
        yield f"the supervisor in the flood {name}, in MiB,", each["supervisor_rss_mib"], FLOOD_SUPERVISOR_MIB
    for name, each in result.get("neighbour", {}).items():
        yield f"a neighbour's p99 beside a bomb of {name} / before", each["p99_ratio"], NEIGHBOUR_P99_RATIO
    if crowd := result.get("crowd"):
        yield "the number of errors in the crowd", len(crowd["errors"]), 0
        yield "p99 in the crowd / p50 alone", crowd["p99_by_single_p50"], CROWD_P99_BY_P50
        yield "the largest pod of the crowd, in MiB PSS,", crowd["pod_pss_mib"]["max"], POD_PSS_MIB
    if many := result.get("links"):
        yield f"a gateway with {many['links']} links, in MiB of RSS at most,", many["most_rss_mib"], LINKS_GATEWAY_MIB
    yield from pool.gates(result)
    yield from tools.gates(result)
    yield from shared_tools.gates(result)
    yield from conversations.gates(result)
    if both := result.get("ipybox"):
        yield "1+1 / ipybox's", both["sandglass"]["calls_ms"]["p50"] / both["ipybox"]["calls_ms"]["p50"], 1
        yield "output that was lost, in bytes,", both["printed_bytes"] - both["sandglass"]["returned_bytes"], 0
    yield from operator_report.gates(result)
    yield from egress_report.gates(result)
