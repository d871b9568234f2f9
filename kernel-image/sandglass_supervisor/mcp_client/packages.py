"""Where the SDK and the generator of APIs are: a folder of their own, so that the code's packages never meet them."""

import os
import sys

VARIABLE = "SANDGLASS_MCP_PACKAGES"


def folder() -> str:
    """The folder that holds them, in the image and in the environment of the tests."""
    return os.environ.get(VARIABLE, os.path.join(sys.prefix, "mcp"))


def find() -> None:
    """Have imports look there first."""
    sys.path.insert(0, folder())
