"""SaslHandshake, and what may be asked before a login (KIP-43, KIP-35, KIP-152)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.security.sasl import (
    ILLEGAL_STATE,
    credentials,
    expect_ended,
    expect_served,
    handshake,
    log_in,
    shaken,
)
from kwire.conform.expectation import answers, closes, expect, expect_equal, expect_error, judge
from kwire.conform.reaction import ConnectionState
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict, Deviation, Need, documentation, guide, kip
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.net.negotiation import api_versions_request
from kwire.net.sasl import Login, Mechanism

SECTION = CheckSection("security/handshake", "SaslHandshake, and what may be asked before a login")

_SEQUENCE = guide("SASL Authentication Sequence")
UNSUPPORTED = ErrorCode.UNSUPPORTED_SASL_MECHANISM
UNKNOWN = "KWIRE-CONFORM"
TOO_LARGE = 16 * 1024 * 1024
"""Bytes of a request: fewer than one may have, more than one before a login
(sasl.server.max.receive.size is 512 KiB)."""


@SECTION.check(1, guide("Retrieving Supported API versions"), needs=Need.SASL)
async def _(server: Server) -> None:
    """ApiVersions is answered before a login."""
    connection = await server.connection_before_login()
    expect_error(await connection.ask(api_versions_request(), 0), ErrorCode.NONE)


@SECTION.check(2, kip(511, "Proposed Changes"), needs=Need.SASL)
async def _(server: Server) -> None:
    """After ApiVersions in an unknown version, a login on the same connection is accepted."""
    connection = await server.connection_before_login()
    judge(
        await connection.exchange(ApiVersionsRequest(), 99),
        answers(ErrorCode.UNSUPPORTED_VERSION, version=0),
    )
    await log_in(server, connection)
    await expect_served(server, connection)


@SECTION.check(3, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """SaslHandshake takes a mechanism of the listener."""
    connection = await server.connection_before_login()
    expect_error(await handshake(connection, credentials(server).mechanism), ErrorCode.NONE)


@SECTION.check(4, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """The answer to SaslHandshake lists the listener's mechanisms."""
    mechanism = credentials(server).mechanism
    answer = await handshake(await server.connection_before_login(), mechanism)
    expect(mechanism in answer.mechanisms, f"{mechanism} listed", list(answer.mechanisms))


@SECTION.check(5, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """A mechanism that the listener lacks gets UNSUPPORTED_SASL_MECHANISM."""
    connection = await server.connection_before_login()
    expect_error(await handshake(connection, UNKNOWN), UNSUPPORTED)


@SECTION.check(6, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """An answer with UNSUPPORTED_SASL_MECHANISM lists the listener's mechanisms."""
    mechanism = credentials(server).mechanism
    answer = await handshake(await server.connection_before_login(), UNKNOWN)
    expect(mechanism in answer.mechanisms, f"{mechanism} listed", list(answer.mechanisms))


@SECTION.check(7, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """After UNSUPPORTED_SASL_MECHANISM the connection is closed."""
    connection = await server.connection_before_login()
    server.allowed_ends |= {ConnectionState.SILENT}
    await handshake(connection, UNKNOWN)
    state = await connection.probe()
    expect(state.ended, "the connection ended", f"it is {state.value}")


@SECTION.check(8, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """A second SaslHandshake in place of the first token is refused."""
    mechanism = credentials(server).mechanism
    connection = await shaken(server, mechanism)
    again = await connection.exchange(SaslHandshakeRequest(mechanism=mechanism))
    judge(again, answers(ILLEGAL_STATE) | closes())
    await expect_ended(connection)


@SECTION.check(11, documentation("sasl.server.max.receive.size"), needs=Need.SASL)
async def _(server: Server) -> None:
    """A size of 16 MiB before a login ends the connection."""
    connection = await server.connection_before_login()
    server.allowed_ends |= {ConnectionState.SILENT}
    await connection.send(TOO_LARGE.to_bytes(4, "big"))
    if await connection.receive() is not None or not connection.state.ended:
        came = f"it is {connection.state.value}"
        raise Deviation("the connection ended", came, ConformanceVerdict.DIFFERS)


@SECTION.check(12, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """After a SaslHandshake of v0, tokens without headers log in."""
    connection = await server.connection_before_login()
    login = Login(await credentials(server).resolved(), connection.peer)
    login.receive(await handshake(connection, login_mechanism(server), 0))
    while isinstance(login.request, SaslAuthenticateRequest):
        with server.transcript.private():
            await connection.send(_token(login.request.auth_bytes))
            answer = await connection.receive(smallest=0)
        expect(answer is not None, "a token", f"the connection is {connection.state.value}")
        try:
            login.receive(SaslAuthenticateResponse(auth_bytes=answer or b""))
        except BrokerError as error:
            raise Deviation("the login accepted", str(error)) from None
    await expect_served(server, connection)


@SECTION.check(13, kip(152, "Motivation"), needs=Need.SASL)
async def _(server: Server) -> None:
    """A wrong token without a header ends the connection without an answer."""
    connection = await server.connection_before_login()
    answer = await handshake(connection, login_mechanism(server), 0)
    expect_equal("error", answer.error_code, 0)
    await connection.send(_token(b"no token of any mechanism"))
    came = await connection.receive(smallest=0)
    expect(came is None, "no answer", f"{len(came or b'')} bytes")
    expect(connection.state.ended, "the connection ended", f"it is {connection.state.value}")


def login_mechanism(server: Server) -> Mechanism:
    """Return the mechanism of the user's credentials; those of tokens have no bare form here."""
    return credentials(
        server, Mechanism.PLAIN, Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512
    ).mechanism


def _token(token: bytes) -> bytes:
    return len(token).to_bytes(4, "big") + token
