"""SaslAuthenticate, whatever the mechanism (KIP-152, KIP-368)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.security.sasl import (
    ILLEGAL_STATE,
    credentials,
    expect_refused,
    expect_served,
    log_in,
    logged_in,
    send_token,
    shaken,
)
from kwire.conform.expectation import answers, closes, expect, judge
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, guide, schema

SECTION = CheckSection("security/authenticate", "SaslAuthenticate")

_SEQUENCE = guide("SASL Authentication Sequence")


@SECTION.check(1, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """With the right credentials, requests are answered."""
    connection = await logged_in(server)
    await expect_served(server, connection)


@SECTION.check(2, schema("SaslAuthenticateResponse", "SessionLifetimeMs"), needs=Need.SASL)
async def _(server: Server) -> None:
    """The lifetime of a session is no negative number."""
    connection = await server.connection_before_login()
    login = await log_in(server, connection)
    expect(login.lifetime >= 0, "a lifetime from 0 on", f"{login.lifetime * 1000:.0f} ms")


@SECTION.check(3, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """SaslAuthenticate before a handshake does not log in."""
    connection = await server.connection_before_login()
    judge(await send_token(connection, b"\0user\0password"), closes() | answers(ILLEGAL_STATE))


@SECTION.check(4, guide("Error Codes"), needs=Need.SASL)
async def _(server: Server) -> None:
    """SaslAuthenticate after a login gets ILLEGAL_SASL_STATE."""
    connection = await logged_in(server)
    judge(await send_token(connection, b"\0user\0password"), answers(ILLEGAL_STATE))


@SECTION.check(5, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """After a login a refused SaslAuthenticate does not end the connection."""
    connection = await logged_in(server)
    await send_token(connection, b"\0user\0password")
    await expect_served(server, connection)


@SECTION.check(6, _SEQUENCE, needs=Need.SASL)
async def _(server: Server) -> None:
    """An empty token is refused, and ends the connection."""
    await expect_refused(await shaken(server, credentials(server).mechanism), b"")
