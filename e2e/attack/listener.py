#!/usr/bin/env python3
"""Answers on TCP and UDP at each ADDRESS:PORT it is given, and is ready once the file named first exists.

A stand-in for hosts that this machine does not have: a metadata service, a public host, a node's other services.
"""

import asyncio
import pathlib
import sys
import typing

ANSWER = b"sandglass stand-in\n"


class Echo(asyncio.DatagramProtocol):
    """Sends a fixed answer to whoever sends anything."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = typing.cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(ANSWER, addr)


async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


async def serve(ready: pathlib.Path, places: list[str]) -> None:
    loop = asyncio.get_running_loop()
    for place in places:
        host, _, port = place.rpartition(":")
        await asyncio.start_server(greet, host, int(port))
        await loop.create_datagram_endpoint(Echo, local_addr=(host, int(port)))
    ready.touch()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(pathlib.Path(sys.argv[1]), sys.argv[2:]))
