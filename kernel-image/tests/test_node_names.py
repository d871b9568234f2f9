"""Code may put anything in the place of what the Node kernel works with, as `const Buffer = …` in a cell does."""

import pytest
from client import Client, Output
from test_node import node, result


@pytest.mark.parametrize(
    "names",
    [
        ["JSON", "Buffer", "Math"],
        ["Promise", "Symbol"],
        ["ArrayBuffer", "Int32Array", "Uint8Array", "SharedArrayBuffer", "Atomics"],
        ["Error", "TypeError", "SyntaxError", "RegExp"],
        ["Map", "Set", "Number", "Reflect"],
    ],
    ids=lambda names: names[0],
)
def test_what_the_code_takes_away(client: Client, name: str, names: list[str]) -> None:
    session = names[0].lower()

    def run(number: int, code: str) -> Output:
        return node(client, f"{name}{number}", code, session=session, timeout_s=20)

    taken = run(1, "; ".join(f"globalThis.{each} = null" for each in names))
    assert taken.outcome is not None
    assert taken.outcome["status"] == "ok"
    output = run(2, "console.log('text'); display('shown'); [6 * 7]")
    assert output.outcome is not None
    assert (output.outcome["status"], output.text()) == ("ok", "text\n")
    assert result(output) == "[ 42 ]"
    assert run(3, "throw new RangeError('words')").only("error").json == {"name": "RangeError", "message": "words"}
    assert result(run(4, "await new (async () => {}).constructor('return 5')()")) == "5"
    client.ask("close", language="nodejs", session=session)


@pytest.mark.slow
@pytest.mark.parametrize("needed", ["Object", "String"])
def test_what_node_itself_cannot_do_without_is_told_at_once(client: Client, name: str, needed: str) -> None:
    session = needed.lower()
    node(client, name + "1", f"var kept = {needed}; globalThis.{needed} = null", session=session)
    failed = node(client, name + "2", "[6 * 7]", session=session, timeout_s=20)
    assert failed.outcome is not None
    assert (failed.outcome["status"], failed.outcome["kernel_restarted"]) == ("error", False)
    assert failed.only("error").json["name"] == "TypeError"
    client.ask("close", language="nodejs", session=session)
