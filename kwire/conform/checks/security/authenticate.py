"""SaslAuthenticate, whatever the mechanism (KIP-152, KIP-368)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, scenario
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
from kwire.conform.needs import Need
from kwire.conform.server import Server
from kwire.conform.source import kip


@scenario("With the right credentials, requests are answered.", kip(152), needs=Need.SASL)
async def _right(server: Server) -> None:
    connection = await logged_in(server)
    await expect_served(server, connection)


@scenario("The lifetime of a session is no negative number.", kip(368), needs=Need.SASL)
async def _lifetime(server: Server) -> None:
    connection = await server.connection_before_login()
    login = await log_in(server, connection)
    expect(login.lifetime >= 0, "a lifetime from 0 on", f"{login.lifetime * 1000:.0f} ms")


@scenario("SaslAuthenticate before a handshake does not log in.", kip(152), needs=Need.SASL)
async def _too_early(server: Server) -> None:
    connection = await server.connection_before_login()
    judge(await send_token(connection, b"\0user\0password"), closes() | answers(ILLEGAL_STATE))


@scenario("SaslAuthenticate after a login gets ILLEGAL_SASL_STATE.", kip(152), needs=Need.SASL)
async def _too_late(server: Server) -> None:
    connection = await logged_in(server)
    judge(await send_token(connection, b"\0user\0password"), answers(ILLEGAL_STATE))


@scenario(
    "After a login a refused SaslAuthenticate does not end the connection.",
    kip(152),
    needs=Need.SASL,
)
async def _goes_on(server: Server) -> None:
    connection = await logged_in(server)
    await send_token(connection, b"\0user\0password")
    await expect_served(server, connection)


@scenario("An empty token is refused, and ends the connection.", kip(152), needs=Need.SASL)
async def _empty(server: Server) -> None:
    await expect_refused(await shaken(server, credentials(server).mechanism), b"")


SECTION = CheckSection(
    "security/authenticate",
    "SaslAuthenticate",
    {1: _right, 2: _lifetime, 3: _too_early, 4: _too_late, 5: _goes_on, 6: _empty},
)
