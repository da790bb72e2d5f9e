"""The check that every run begins with, and without which there is no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.conform.check import Check
from kwire.conform.source import kip

if TYPE_CHECKING:
    from kwire.conform.server import Server


async def _before_the_others(server: Server) -> None:
    raise AssertionError("it is run before there is a target")


FIRST = Check(
    id="start/server/1",
    sentence="A server answers ApiVersions v0, whatever else it does.",
    source=kip(35, "Public Interfaces"),
    run=_before_the_others,
)
