"""Suspension of a node whose event loop goes on: it answers nothing, as if stopped by SIGSTOP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.net.service import RequestContext, Service


class SuspendableService:
    """A service that takes no request and sends no answer between `suspend` and `resume`."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._going = asyncio.Event()
        self._going.set()

    def suspend(self) -> None:
        """Hold requests and answers from now on."""
        self._going.clear()

    def resume(self) -> None:
        """Let all of them go on."""
        self._going.set()

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The APIs of the service."""
        return self._service.apis

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the service's answer, after the end of a suspension."""
        await self._going.wait()
        response = await self._service.answer(request, context)
        await self._going.wait()
        return response
