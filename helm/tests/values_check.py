"""Holds values.yaml, values.schema.json and the templates of a chart together.

Every value is in the schema and every property of the schema has a default; every value has a comment; every value that
a template reads exists; and every value makes a difference: changed alone, it changes what the chart renders or says.
Helm itself reads the YAML, so nothing but Python's own library is needed.

usage: values_check.py CHART
"""

import base64
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = Any
KeyPath = tuple[str, ...]

TESTS = Path(__file__).parent
# What a value is changed to, by its type; the schema refuses those that are of no use to it.
CANDIDATES: dict[type, list[Json]] = {
    bool: [True, False],
    int: [7, 8, 70000],
    float: [0.5],
    str: [
        "changed", "7h", "7", "0.7", "7Ti", "NodePort", "Always", "PodMonitor", "keys", "192.0.2.7", "https://changed.example.com",
        "all",
        "-----BEGIN CERTIFICATE-----\nchanged\n-----END CERTIFICATE-----",
    ],
    dict: [{"changed": "x"}, {"limits": {"changed": "1"}}],
    list: [
        ["changed"], ["https://changed.example.com"], ["192.0.2.0/24"], [7], [{"name": "changed"}],
        [{"name": "CHANGED", "value": "x"}], [{"podSelector": {"changed": "x"}}], [{"changed": "x"}],
        ["javascript"],
    ],
}  # fmt: skip


class Release:
    """What Helm makes of the chart with some values and one of them changed."""

    def __init__(self, chart: Path, *values: str) -> None:
        self._command = [
            "helm", "install", "sandglass", str(chart), "--namespace", "sandglass-system", "--dry-run=client",
            "--output", "json", "--values", str(TESTS / "registry.yaml"), *values,
        ]  # fmt: skip
        unchanged = json.loads(subprocess.run(self._command, stdout=subprocess.PIPE, check=True).stdout)
        self.chart = unchanged["chart"]
        self._unchanged = self._outcome(unchanged)

    def depends_on(self, path: KeyPath, default: Json) -> bool:
        for candidate in CANDIDATES[type(default)]:
            change = ["--set-json", f"{'.'.join(path)}={json.dumps(candidate)}"]
            changed = subprocess.run([*self._command, *change], capture_output=True, check=False)
            if changed.returncode == 0 and self._outcome(json.loads(changed.stdout)) != self._unchanged:
                return True
        return False

    @staticmethod
    def _outcome(release: Json) -> Json:
        return release["manifest"], [hook["manifest"] for hook in release["hooks"]], release["info"].get("notes")


def properties(schema: Json, definitions: Json) -> dict[str, Json] | None:
    """The named properties of an object, or None where names are free or there are none."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/definitions/")]
    named: dict[str, Json] | None = schema.get("properties")
    return named


def differences(values: Json, schema: Json, definitions: Json, path: KeyPath = ()) -> Iterator[str]:
    if not path and schema.get("additionalProperties") is not False:
        yield "values.schema.json: additionalProperties must be false"
    named = properties(schema, definitions)
    if named is None:
        for_any_name = schema.get("additionalProperties")
        if isinstance(values, dict) and isinstance(for_any_name, dict):
            for key, value in values.items():
                yield from differences(value, for_any_name, definitions, (*path, key))
        return
    for key in values.keys() - named.keys():
        yield f"values.yaml: {'.'.join((*path, key))} is not in values.schema.json"
    for key in named.keys() - values.keys():
        yield f"values.schema.json: {'.'.join((*path, key))} has no default in values.yaml"
    for key in values.keys() & named.keys():
        yield from differences(values[key], named[key], definitions, (*path, key))


def leaves(values: Json, schema: Json, definitions: Json, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The values that are set as a whole."""
    named = properties(schema, definitions)
    for_any_name = schema.get("additionalProperties")
    if isinstance(values, dict) and path[-1:] != ("resources",):
        for key, value in values.items():
            below = named.get(key) if named is not None else for_any_name
            if isinstance(below, dict):
                yield from leaves(value, below, definitions, (*path, key))
        if named is not None or (isinstance(for_any_name, dict) and values):
            return
    yield path


def commented(values_yaml: str) -> set[KeyPath]:
    """The keys with a comment behind them or in the line above; it is of all keys that stand in that line."""
    found = set()
    path: list[tuple[int, str]] = []
    above = ""
    for line in values_yaml.splitlines():
        if key := re.match(r"( *)([A-Za-z]\w*):", line):
            path = [(indent, name) for indent, name in path if indent < len(key[1])]
            path.append((len(key[1]), key[2]))
            if "  # " in line or above.lstrip().startswith("#"):
                here = tuple(name for _, name in path)
                found.add(here)
                found.update((*here, inner) for inner in re.findall(r"[{,] *([A-Za-z]\w*):", line.partition("  # ")[0]))
        above = line
    return found


def lookup(values: Json, path: KeyPath) -> Json | None:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return None
        values = values[key]
    return values


def problems(chart: Path) -> Iterator[str]:
    releases = [Release(chart), Release(chart, "--values", str(TESTS / "values" / "everything.yaml"))]
    values = releases[0].chart["values"]
    schema = json.loads(base64.b64decode(releases[0].chart["schema"]))
    yield from differences(values, schema, schema["definitions"])

    for template in sorted((chart / "templates").rglob("*.*")):
        for reference in re.findall(r"\.Values((?:\.\w+)+)", template.read_text()):
            if lookup(values, tuple(reference[1:].split("."))) is None:
                yield f"{template}: {reference[1:]} is not in values.yaml"

    with_comment = commented((chart / "values.yaml").read_text())
    for path in leaves(values, schema, schema["definitions"]):
        if path not in with_comment:
            yield f"values.yaml: {'.'.join(path)} has no comment"
        if not any(release.depends_on(path, lookup(values, path)) for release in releases):
            yield f"values.yaml: {'.'.join(path)} makes no difference to what the chart renders"


def main() -> None:
    found = list(problems(Path(sys.argv[1])))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        sys.exit(1)


main()
