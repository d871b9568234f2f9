"""Tests that a busy machine would make fail are marked to run alone."""

import ast
from pathlib import Path

FOLDER = Path(__file__).parent
TIGHT_S = 1.0  # two processes on two processors do not cost a test that much


def is_tight(comparison: ast.Compare) -> bool:
    """Whether something that the clock says must be below a bound that a busy machine may miss."""
    if not isinstance(comparison.ops[-1], ast.Lt):
        return False
    said = ast.unparse(comparison)
    if not any(word in said for word in ("time.monotonic() - ", "slowest <", "min(took) <")):
        return False
    bound = comparison.comparators[-1]
    values = [node.value for node in ast.walk(bound) if isinstance(node, ast.Constant)]
    return sum(value for value in values if isinstance(value, float | int)) <= TIGHT_S


def test_what_has_a_tight_bound_is_alone() -> None:
    unmarked, seen = [], 0
    for file in sorted(FOLDER.glob("test_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                isinstance(one, ast.Compare) and is_tight(one) for one in ast.walk(node)
            ):
                seen += 1
                if not any("mark.alone" in ast.unparse(mark) for mark in node.decorator_list):
                    unmarked.append(f"{file.name}: {node.name}")
    assert unmarked == [], "mark them with @pytest.mark.alone"
    assert seen > 5
