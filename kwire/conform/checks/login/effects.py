"""Before a login is complete nothing is carried out, whatever is answered.

The end of a connection proves nothing: a proxy may have carried a request out and then lost the
node. So a second connection, which is logged in, looks for what the request would have changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from kwire.conform.check import Check, CheckSection, Member, Members, family
from kwire.conform.checks.login.answers import SESSION_OVER, exchange_unauthenticated
from kwire.conform.checks.login.cluster_requests import CLUSTER_REQUESTS
from kwire.conform.checks.login.effective_request import EffectiveRequest, Prepare, visible_error
from kwire.conform.checks.login.states import SEQUENCE, STATES, UnauthenticatedState
from kwire.conform.checks.login.topic_requests import TOPIC_REQUESTS
from kwire.conform.expectation import reaction_text
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Need, Skipped
from kwire.messages.registry import api_key, api_name
from kwire.net.address import Address

SECTION = CheckSection("login/effects", "Nothing is carried out before a login is complete")

SETTLING = 0.5
"""Seconds within which what was carried out is seen: a proxy may be on its way to the node."""
_TOGETHER = 8
_DONE = 16

MemberRun = Callable[[Prepare, Server], Awaitable[None]]


def _each(run: MemberRun) -> Members:
    """Return a member for each API that the server offers and that has an effective request."""

    def members(server: Server) -> Iterator[Member]:
        for name, prepare in {**TOPIC_REQUESTS, **CLUSTER_REQUESTS}.items():
            if api_key(name) in server.target.versions.api_versions:
                yield Member(id=name, run=partial(run, prepare))

    return members


async def _prepared(prepare: Prepare, server: Server) -> tuple[EffectiveRequest, Address]:
    """Return a request, and the address of the node that would carry it out."""
    connection = await server.active_controller()
    server.allowed_ends = SESSION_OVER
    return await prepare(server), Address.parse(connection.peer)


def _not_carried_out(state: UnauthenticatedState) -> Check:
    """Return the check of a state.

    1. Send the request on a connection in this state.
    2. Look for its effect on another one, which is logged in.
    """

    async def run(prepare: Prepare, server: Server) -> None:
        effective, address = await _prepared(prepare, server)
        # 1.
        connection = await state.enter(server, address)
        request = effective.request
        version = effective.version
        if version is None:
            version = connection.version_for(request)
        reaction = await exchange_unauthenticated(connection, request, version)
        # 2.
        await asyncio.sleep(SETTLING)
        main = await server.connection()
        await main.probe()
        await main.renew()
        if await effective.happened():
            name = api_name(type(request).key or 0)
            raise Deviation("nothing carried out", f"{name} carried out; {reaction_text(reaction)}")

    return family(
        f"{state.when} no API is carried out.",
        state.source,
        _each(run),
        needs=state.needs | Need.RESOURCES,
        together=state.together,
    )


async def _carried_out(prepare: Prepare, server: Server) -> None:
    effective, _ = await _prepared(prepare, server)
    answer = await server.ask(effective.request, effective.version)
    if (code := visible_error(answer)) and not await effective.happened():
        raise Skipped(f"the cluster refuses it: {error_text(code)}")
    await server.wait_for("the effect", effective.happened)
    if effective.undo is not None:
        await effective.undo(answer)


for _number, _state in STATES.items():
    SECTION[_number] = _not_carried_out(_state)
SECTION[_DONE] = family(
    "After a login each of these requests is carried out.",
    SEQUENCE,
    _each(_carried_out),
    needs=Need.SASL | Need.RESOURCES,
    together=_TOGETHER,
)
