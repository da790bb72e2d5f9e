"""Before a login is complete no API is answered: each that the server offers, in each state.

The requests are harmless ones (`safe_requests`): this creates nothing, whatever the server does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kwire.codec.declaration import Request
from kwire.conform.answer import read_answer
from kwire.conform.check import Check, CheckSection, Member, family
from kwire.conform.checks.login.states import STATES, UnauthenticatedState
from kwire.conform.checks.security.sasl import ILLEGAL_STATE, expect_ended
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import first_error, reaction_text
from kwire.conform.reaction import ConnectionState, Reaction
from kwire.conform.safe_requests import UNSAFE_APIS, safe_request
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Skipped
from kwire.messages.error_response import error_response
from kwire.messages.index import APIS
from kwire.messages.registry import api_keys, api_name, request

SECTION = CheckSection("login/answers", "Nothing is answered before a login is complete")

OF_A_LOGIN = api_keys("ApiVersions", "SaslHandshake", "SaslAuthenticate")

NUMBER = 0x6B776972
"""The correlation id of a request without a login; answers to others may still come before it."""
SESSION_OVER = frozenset({ConnectionState.CLOSED, ConnectionState.RESET})
"""Ends of the check's own connection, which is logged in: its session may be over."""

_PATIENCE = 10.0


async def exchange_unauthenticated(
    connection: CheckedConnection, body: Request, version: int
) -> Reaction:
    """Send a request; return what the server does with it, passing over answers to others."""
    await connection.send(connection.frame(body, version, correlation_id=NUMBER))
    while (frame := await connection.receive(_PATIENCE, smallest=0)) is not None:
        if frame[:4] == NUMBER.to_bytes(4, "big"):
            return read_answer(frame, type(body).key or 0, version, NUMBER)
    return Reaction(connection=connection.state)


def is_refused(reaction: Reaction, body: Request, version: int) -> bool:
    """True for an end without an answer, and for ILLEGAL_SASL_STATE as the API has it.

    A response that has no place for an error tells nothing either, if it is empty.
    """
    if reaction.frame is None:
        return reaction.connection.ended
    answer = reaction.body
    if answer is None or reaction.problem:
        return False
    return first_error(answer) == ILLEGAL_STATE or answer == error_response(
        body, version, ILLEGAL_STATE
    )


def _not_answered(state: UnauthenticatedState) -> Check:
    """Return the check of a state, with a member for each API that the server offers."""

    async def run(key: int, version: int, server: Server) -> None:
        body = safe_request(key, version)
        if body is None:
            raise Skipped(f"it is not asked: {UNSAFE_APIS[api_name(key)]}")
        server.allowed_ends = SESSION_OVER
        connection = await state.enter(server, server.target.address)
        reaction = await exchange_unauthenticated(connection, body, version)
        if not is_refused(reaction, body, version):
            expected = "error 34 ILLEGAL_SASL_STATE, or the connection closed without an answer"
            raise Deviation(expected, reaction_text(reaction))
        await expect_ended(connection)

    def members(server: Server) -> Iterator[Member]:
        for key, offered in sorted(server.target.versions.api_versions.items()):
            known = [v for v in request(key).versions if v in offered] if key in APIS else []
            if known and key not in OF_A_LOGIN:
                yield Member(id=api_name(key), run=partial(run, key, known[-1]))

    return family(
        f"{state.when} no API but those of a login is answered, and the connection is ended.",
        state.source,
        members,
        needs=state.needs,
        together=state.together,
    )


for _number, _state in STATES.items():
    SECTION[_number] = _not_answered(_state)
