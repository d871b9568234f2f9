"""Code as editors of other systems leave it, and modules that are edited faster than file times tell."""

from pathlib import Path

import pytest
from client import Client
from supervisors import Running

MARK = "\ufeff"


@pytest.mark.parametrize(
    ("language", "code", "result"),
    [
        ("python", MARK + "x = 1\nx", b"1"),
        ("python", MARK + "x = '''a\r\nb'''\r\nif x:\r\n    x += 'c'\r\nx", b"'a\\nbc'"),
        ("nodejs", MARK + "var x = 1; x", b"1"),
        ("nodejs", MARK + "#!/usr/bin/env node\r\nconst text = `a\r\nb`;\r\ntext.length", b"3"),
    ],
)
def test_a_mark_and_line_ends(client: Client, name: str, language: str, code: str, result: bytes) -> None:
    output = client.run(name, code, session="text", language=language)
    assert output.only("result").blob == result
    client.ask("close", session="text", language=language)


def test_a_mark_elsewhere_is_part_of_the_code(client: Client, name: str) -> None:
    assert client.run(name, f"len('{MARK}')").only("result").blob == b"1"


@pytest.mark.parametrize("magic", ["%%bash", "%%sh", "%%python"])
def test_programs_get_lines_that_they_know(client: Client, name: str, magic: str) -> None:
    code = "print(1)\r\nif 1:\r\n    print(2)" if magic == "%%python" else "echo 1\r\nif true; then\r\necho 2\r\nfi"
    assert client.run(name, f"{MARK}{magic}\r\n{code}\r\n").text() == "1\n2\n"


def test_a_character_that_python_refuses_is_named(client: Client, name: str) -> None:
    error = client.run(name, "x\u00a0= 1").only("error")
    assert "invalid non-printable character U+00A0" in error.json["message"]


@pytest.mark.slow
def test_commands_run_a_module_as_it_is_now(client: Client, shared: Running, name: str, home: Path) -> None:
    (home / "main.py").write_text("import module; print(module.VALUE)")
    said = []
    for turn in range(6):
        (home / "module.py").write_text(f"VALUE = {turn}\n")
        said.append(client.command(f"{name}-{turn}", "python3", f"{home}/main.py").text())
    assert said == [f"{turn}\n" for turn in range(6)]
    assert not (home / "__pycache__").exists()


@pytest.mark.slow
def test_kernels_reload_a_module_as_it_is_now(client: Client, name: str, home: Path) -> None:
    (home / "edited.py").write_text("VALUE = 0\n")
    client.run(name, f"import importlib, sys; sys.path.insert(0, {str(home)!r}); import edited", session="text")
    said = []
    for turn in range(6):
        (home / "edited.py").write_text(f"VALUE = {turn}\n")
        output = client.run(f"{name}-{turn}", "importlib.reload(edited).VALUE", session="text")
        said.append(output.only("result").blob.decode())
    client.ask("close", session="text")
    assert said == [f"{turn}" for turn in range(6)]


def test_programs_of_a_kernel_too(client: Client, name: str, home: Path) -> None:
    code = f"""
import pathlib, subprocess, sys
said = []
for turn in range(6):
    pathlib.Path({str(home)!r}, 'inner.py').write_text(f'VALUE = {{turn}}\\n')
    program = [sys.executable, '-c', 'import inner; print(inner.VALUE)']
    said.append(int(subprocess.run(program, cwd={str(home)!r}, capture_output=True, text=True).stdout))
said
"""
    assert client.run(name, code).only("result").blob == b"[0, 1, 2, 3, 4, 5]"


def test_bytecode_that_is_asked_for_is_written(client: Client, name: str, home: Path) -> None:
    """As pip does for what it installs."""
    (home / "asked.py").write_text("VALUE = 1\n")
    client.command(name, "python3", "-m", "compileall", "-q", str(home))
    assert list(home.glob("__pycache__/asked*.pyc"))
