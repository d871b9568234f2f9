"""The two clients: one call out, one answer in, with retries where nothing can run twice."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx

from sandglass.config.settings import Settings
from sandglass.wire.exchange import Answering, Retry, client_options, failed, posted
from sandglass.wire.messages import ToolAnswer, ToolCall
from sandglass.wire.retries import ATTEMPTS, PATIENT_ATTEMPTS


class Client:
    """Calls tools from a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        options: Any = client_options(settings)
        self._http = httpx.Client(**options)
        self._attempts = ATTEMPTS

    def call(self, call: ToolCall) -> ToolAnswer:
        """The tool's answer."""
        attempt = 1
        while True:
            try:
                return self._attempt(call)
            except Retry as retry:
                time.sleep(retry.pause(call, attempt, self._attempts))
            attempt += 1

    def close(self) -> None:
        """Ends the connections."""
        self._http.close()

    def _attempt(self, call: ToolCall) -> ToolAnswer:
        url, headers, body = posted(self._settings, call)
        try:
            with self._http.stream("POST", url, headers=headers, content=body) as response:
                self._attempts = PATIENT_ATTEMPTS
                answering = Answering(call, response)
                for piece in response.iter_bytes():
                    answering.take(piece)
                return answering.end()
        except httpx.HTTPError as error:
            raise failed(error, self._settings) from None


class AsyncClient:
    """Calls tools from a coroutine; as many at once as there are connections."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        options: Any = client_options(settings)
        self._http = httpx.AsyncClient(**options)
        self._attempts = ATTEMPTS

    async def call(self, call: ToolCall) -> ToolAnswer:
        """The tool's answer."""
        attempt = 1
        while True:
            try:
                return await self._attempt(call)
            except Retry as retry:
                await asyncio.sleep(retry.pause(call, attempt, self._attempts))
            attempt += 1

    async def close(self) -> None:
        """Ends the connections."""
        await self._http.aclose()

    async def _attempt(self, call: ToolCall) -> ToolAnswer:
        url, headers, body = posted(self._settings, call)
        try:
            async with self._http.stream("POST", url, headers=headers, content=body) as response:
                self._attempts = PATIENT_ATTEMPTS
                answering = Answering(call, response)
                async for piece in response.aiter_bytes():
                    answering.take(piece)
                return answering.end()
        except httpx.HTTPError as error:
            raise failed(error, self._settings) from None
