"""What code displays under a name, so that it can display a newer version of it."""

from client import Client


def test_what_is_displayed_anew_has_its_name(client: Client, name: str) -> None:
    code = """
from IPython.display import ProgressBar, display, update_display
handle = display('a', display_id=True)
handle.update('b')
display('c', display_id='mine')
update_display('d', display_id='mine')
display('e')
for step in ProgressBar(2): pass
"""
    output = client.run(name, code, session="anew")
    client.ask("close", session="anew")
    said = [(record.blob, record.json.get("display")) for record in output.records if record.kind == "display"]
    handle, bar = (name["id"] for name in (said[0][1], said[5][1]) if name is not None)
    assert handle != bar
    assert said[:5] == [
        (b"'a'", {"id": handle, "update": False}),
        (b"'b'", {"id": handle, "update": True}),
        (b"'c'", {"id": "mine", "update": False}),
        (b"'d'", {"id": "mine", "update": True}),
        (b"'e'", None),
    ]
    assert [about["update"] for _, about in said[5:] if about is not None and about["id"] == bar][:2] == [False, True]
