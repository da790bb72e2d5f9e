"""Logging in again on a connection, before its session is over (KIP-368)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.security.sasl import (
    credentials,
    expect_ended,
    expect_refused,
    expect_served,
    handshake,
    log_in,
)
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, Skipped, kip
from kwire.error_codes import ErrorCode

SECTION = CheckSection("security/reauthentication", "Another login on the same connection")

_KIP = kip(368, "Public Interfaces")


async def _session(server: Server) -> CheckedConnection:
    """Return a connection whose session has an end. Raises Skipped if it has none."""
    connection = await server.connection_before_login()
    if not (await log_in(server, connection)).lifetime:
        raise Skipped("sessions have no end here: connections.max.reauth.ms is 0")
    return connection


@SECTION.check(1, _KIP, needs=Need.SASL)
async def _(server: Server) -> None:
    """SaslHandshake begins another login on the connection."""
    connection = await _session(server)
    expect_error(await handshake(connection, credentials(server).mechanism), ErrorCode.NONE)


@SECTION.check(2, _KIP, needs=Need.SASL)
async def _(server: Server) -> None:
    """After another login requests on the connection are answered."""
    connection = await _session(server)
    await log_in(server, connection)
    await expect_served(server, connection)


@SECTION.check(4, _KIP, needs=Need.SASL)
async def _(server: Server) -> None:
    """Another login cannot have another mechanism."""
    mine = credentials(server).mechanism
    offered = (await handshake(await server.new_connection(login=False), mine)).mechanisms
    other = next((name for name in offered if name != mine), None)
    if other is None:
        raise Skipped(f"the listener has no mechanism but {mine}")
    connection = await _session(server)
    answer = await handshake(connection, other)
    if not first_error(answer):
        await expect_ended(connection)


@SECTION.check(5, _KIP, needs=Need.SASL)
async def _(server: Server) -> None:
    """Another login with wrong credentials ends the connection."""
    connection = await _session(server)
    await handshake(connection, credentials(server).mechanism)
    await expect_refused(connection, b"no token of any mechanism")
