"""What the image lacks for the supervisor to run.

It is the first of ours that is run, so it is written for every Python 3 that there is.
"""

import os
import re
import sys
from importlib.util import find_spec

EXIT_CODE = 3
_PYTHON = (3, 10)
_IPYKERNEL, _TOO_NEW = (7, 3), (8,)
# Of the folders where no volume is ever mounted (VolumeRules of the operator), those that programs are installed in.
_KEPT = ("/opt/", "/usr/")
_VERSION = re.compile(r"""^__version__ *= *["'](\d{1,4})\.(\d{1,4})""", re.MULTILINE)


def lacking() -> str:
    """What to add to the image, for its maker; empty if nothing is missing."""
    if sys.version_info[:2] < _PYTHON:
        return "Python 3.10 or newer: its python3 is {}.{}".format(*sys.version_info[:2])
    if find_spec("zmq") is None:
        return "the Python package pyzmq, which 'pip install sandglass-supervisor' brings unless it is told not to"
    kernel = find_spec("ipykernel")
    if kernel is None:
        return "the Python package ipykernel 7.3 or newer: it has none"
    found = _version_of(os.path.dirname(kernel.origin or ""))
    if found and found < _IPYKERNEL:
        return "the Python package ipykernel 7.3 or newer: it has {}.{}".format(*found)
    if found >= _TOO_NEW:
        return "the Python package ipykernel below 8 (pip install ipykernel~=7.3): it has {}.{}".format(*found)
    return ""


def report(words: str) -> int:
    """Say it in the line that the operator looks for in the container's last words; the exit code."""
    sys.stderr.write("image-lacks: " + words + "\n")
    return EXIT_CODE


def coverable() -> "list[str]":
    """Folders of this Python and of the supervisor that a volume could be mounted over, links followed."""
    folders = {os.path.realpath(folder) for folder in (sys.prefix, sys.base_prefix, os.path.dirname(__file__))}
    return sorted(folder for folder in folders if not (folder + "/").startswith(_KEPT))


def _version_of(folder: str) -> "tuple[int, ...]":
    """Major and minor version; empty if the package keeps it elsewhere. Its metadata would take far longer to read."""
    try:
        with open(os.path.join(folder, "_version.py"), encoding="utf-8") as file:
            found = _VERSION.search(file.read(4096))
    except OSError:
        return ()
    return (int(found.group(1)), int(found.group(2))) if found else ()
