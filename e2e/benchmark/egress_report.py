"""What a run found of the egress proxy, in words, and what of it is worse than promised (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Result = dict[str, Any]

ADDED_P50_MS = 1.5
MIB_PER_S = 300.0
WAYS = ("direct", "sandglass", "tinyproxy", "squid")


def lines(result: Result) -> Iterator[str]:
    if proxies := result.get("egress"):
        yield f"  a tunnel's first byte comes {proxies['added_p50_ms']:.2f} ms later than a direct one at p50"
        for name in WAYS:
            one = proxies[name]
            memory = "" if one["rss_mib"] is None else f", {one['rss_mib']:.1f} MiB RSS"
            yield (
                f"  {name:9}: {one['mib_per_s']:.0f} MiB/s, round trips of {proxies['tunnels']} tunnels at once p99 "
                f"{one['crowd_ms']['p99']:.1f} ms{memory}"
            )


def timings(result: Result) -> Iterator[tuple[str, dict[str, float]]]:
    if proxies := result.get("egress"):
        for name in WAYS:
            yield f"CONNECT to first byte, {name}", proxies[name]["opening_ms"]


def gates(result: Result) -> Iterator[tuple[str, float, float]]:
    if proxies := result.get("egress"):
        yield "what the egress proxy adds at p50, in ms,", proxies["added_p50_ms"], ADDED_P50_MS
        yield f"{MIB_PER_S:.0f} MiB/s / the egress proxy's throughput", MIB_PER_S / proxies["sandglass"]["mib_per_s"], 1
