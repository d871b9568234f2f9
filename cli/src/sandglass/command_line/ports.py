"""`open`: a port of a sandbox in a browser."""

from __future__ import annotations

import sys
import webbrowser
from typing import Annotated
from urllib.parse import urljoin, urlsplit

import typer

from sandglass.command_line.common import Box, Form, Namespace, Output, client, say, where, write
from sandglass.core import sandboxes
from sandglass.errors import EndpointError, ToolError
from sandglass.sandbox import walk


def open_port(
    sandbox: Box,
    port: Annotated[int, typer.Argument(metavar="PORT", min=1, max=65535, help="Port in the sandbox.")],
    show: Annotated[bool, typer.Option("--print", help="Print the address alone; do not open a browser.")] = False,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Opens a port of a sandbox in a browser.

    The address is a permission: anyone who has it can use the port until it expires. Where the installation gives no
    such addresses, the one for programs is printed, which needs the API key.
    """
    with client(namespace) as (connected, found):
        started = walk(connected, sandboxes.start(where(found, sandbox)))
        chosen = next((each for each in started.ports if each.port == port), None)
        if chosen is None:
            declared = ", ".join(str(each.port) for each in started.ports) or "none"
            raise ToolError(
                f"port {port} is not declared ({declared}): name all with 'sandglass start {sandbox} --port {port}'"
            )
        link = None if chosen.link is None else address(found.url, chosen.link)
        url = address(found.url, chosen.url)
    if output is Form.JSON:
        write({"port": port, "url": url, "link": link, "link_expires_at": chosen.link_expires_at})
        return
    say(link or url)
    if link is not None and not show and sys.stdout.isatty():
        webbrowser.open(link)


def address(endpoint: str, told: str) -> str:
    """The whole address of a port. A browser is sent nowhere but to the web."""
    whole = urljoin(endpoint, told)
    if urlsplit(whole).scheme not in ("http", "https"):
        raise EndpointError("the endpoint's address of the port is none of the web")
    return whole
