"""What a conversation costs a model in tokens (characters / 4): as data with output schemas, and as text.

Both forms are asked of the same endpoint, in conversations of the same calls. What counts is what a client that knows
both hands to its model: the list of tools as it is sent, the calls that the model writes, and of each answer its data
if there is any, else its texts. Pictures are counted apart: a client that hands over data loses them.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Generator, Iterator
from typing import Any

from agent import Agent

from .cold_start import Failed

CHARACTERS_PER_TOKEN = 4
FORMS = {"data": "?structured=true", "text": ""}
EXECUTION = re.compile(r"[\w-]+\.[a-z0-9-]{1,36}\.[0-9]+\.[a-z2-7]{16}")
OFFSET = re.compile(r"offset['\"]?:? ([0-9]+)")
MOST_PAGES = 8
TEXT_BY_DATA = 0.6

Turn = tuple[str, dict[str, Any]]
# Yields calls and is sent what the model sees of each answer.
Talk = Generator[Turn, str, None]

CSV = "day,station,rain_mm\n" + "".join(
    f"2026-{1 + day // 28:02d}-{1 + day % 28:02d},{'north' if day % 2 else 'south'},{(day * 37) % 50 / 10}\n"
    for day in range(56)
)

ANALYSE = """\
import pandas as pd
rain = pd.read_csv("rain.csv", parse_dates=["day"])
print(rain.describe())
rain.groupby("station")["rain_mm"].agg(["mean", "max", "sum"])
"""

PLOT = """\
import matplotlib.pyplot as plt
rain.pivot(index="day", columns="station", values="rain_mm").plot(title="Rain")
plt.show()
"""

BROKEN = """\
import json
def total(orders):
    return sum(order["price"] * order["count"] for order in orders)
orders = json.loads('[{"price": 3, "count": 2}, {"price": 5}]')
total(orders)
"""

REPAIRED = """\
def total(orders):
    return sum(order["price"] * order.get("count", 1) for order in orders)
total(orders)
"""

STEPS = 2000
LONG = f"""\
for step in range({STEPS}):
    print(f"step {{step:4d}}: loss {{1 / (step + 1):.6f}}")
"""
LAST_STEP = f"step {STEPS - 1}"
# A model reads these characters in either form; what the forms add to them is what can be saved.
PRINTED = {
    "a long run in parts": sum(len(f"step {step:4d}: loss {1 / (step + 1):.6f}\n") for step in range(STEPS)),
}


def analysis(sandbox: str) -> Talk:
    """Start, write a table, analyse it, plot it, stop."""
    yield "sandbox_start", {"sandbox": sandbox}
    yield "sandbox_write_file", {"sandbox": sandbox, "path": "rain.csv", "content": CSV}
    yield "sandbox_run_code", {"sandbox": sandbox, "code": ANALYSE}
    yield "sandbox_run_code", {"sandbox": sandbox, "code": PLOT}
    yield "sandbox_stop", {"sandbox": sandbox}


def repair(sandbox: str) -> Talk:
    """An error with its traceback, and its repair."""
    yield "sandbox_run_code", {"sandbox": sandbox, "code": BROKEN}
    yield "sandbox_run_code", {"sandbox": sandbox, "code": REPAIRED}
    yield "sandbox_stop", {"sandbox": sandbox}


def long_run(sandbox: str) -> Talk:
    """A run in the background, whose output is read in parts."""
    seen = yield "sandbox_run_code", {"sandbox": sandbox, "code": LONG, "background": True}
    execution, offset = EXECUTION.search(seen), 0
    if execution is None:
        raise Failed(f"no execution_id in {seen[:300]}")
    for _ in range(MOST_PAGES):
        page = {"execution_id": execution[0], "offset": offset, "wait": 20}
        seen = yield "sandbox_get_execution", page
        further = [int(number) for number in OFFSET.findall(seen[-2000:]) if int(number) > offset]
        if LAST_STEP in seen or not further:
            break
        offset = further[-1]
    if LAST_STEP not in seen:
        raise Failed(f"the end was not read: {seen[-300:]}")
    yield "sandbox_stop", {"sandbox": sandbox}


CONVERSATIONS: dict[str, Callable[[str], Talk]] = {
    "analysis with a plot": analysis,
    "an error and its repair": repair,
    "a long run in parts": long_run,
}


def measure(agent: Agent) -> dict[str, Any]:
    """Of each conversation in each form: tokens in all, and those of tools, calls and answers."""
    path = agent.path
    found: dict[str, Any] = {}
    try:
        for name, conversation in CONVERSATIONS.items():
            for form, query in FORMS.items():
                agent.path = path.partition("?")[0] + query
                found.setdefault(name, {})[form] = held(agent, conversation)
            found[name]["saved"] = 1 - found[name]["text"]["tokens"] / found[name]["data"]["tokens"]
    finally:
        agent.path = path
    return found


def held(agent: Agent, conversation: Callable[[str], Talk]) -> dict[str, int]:
    """The conversation, held in a sandbox of its own."""
    sandbox = f"talk-{secrets.token_hex(3)}"
    counts = {"tools": len(compact(agent.request("tools/list", {})["tools"])), "calls": 0, "answers": 0, "pictures": 0}
    talk = conversation(sandbox)
    try:
        turn: Turn | None = next(talk)
        while turn is not None:
            tool, arguments = turn
            result = agent.request("tools/call", {"name": tool, "arguments": arguments})
            seen = handed_over(result)
            counts["calls"] += len(tool) + len(compact(arguments))
            counts["answers"] += len(seen)
            counts["pictures"] += pictures(result)
            try:
                turn = talk.send(seen)
            except StopIteration:
                turn = None
    finally:
        agent.request("tools/call", {"name": "sandbox_stop", "arguments": {"sandbox": sandbox, "delete": True}})
    tokens = {part: round(counts[part] / CHARACTERS_PER_TOKEN) for part in ("tools", "calls", "answers")}
    return {"tokens": sum(tokens.values()), **tokens, "pictures": counts["pictures"]}


def handed_over(result: dict[str, Any]) -> str:
    """What a client that prefers data hands to its model."""
    if "structuredContent" in result:
        return compact(result["structuredContent"])
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")


def pictures(result: dict[str, Any]) -> int:
    """How many of them the model sees."""
    if "structuredContent" in result:
        return 0
    return sum(part["type"] == "image" for part in result["content"])


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(result: dict[str, Any]) -> Iterator[str]:
    """What was found, in words."""
    for name, each in result.get("conversations", {}).items():
        yield (
            f"  {name}: {each['data']['tokens']:,} tokens as data with output schemas ({each['data']['pictures']} "
            f"pictures seen), {each['text']['tokens']:,} as text ({each['text']['pictures']} seen), "
            f"{each['saved']:.0%} saved"
        )


def gates(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """What it may be at most, beside what the code itself prints."""
    for name, each in result.get("conversations", {}).items():
        printed = PRINTED.get(name, 0) / CHARACTERS_PER_TOKEN
        text, data = (each[form]["tokens"] - printed for form in ("text", "data"))
        yield f"the tokens of {name} as text / as data, without what the code prints", text / data, TEXT_BY_DATA
