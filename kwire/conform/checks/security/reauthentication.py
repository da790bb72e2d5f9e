"""Logging in again on a connection, before its session is over (KIP-368)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, scenario
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
from kwire.conform.needs import Need
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.conform.verdict import Skipped

_KIP = kip(368, "Public Interfaces")


async def _session(server: Server) -> CheckedConnection:
    """Return a connection whose session has an end. Raises Skipped if it has none."""
    connection = await server.connection_before_login()
    if not (await log_in(server, connection)).lifetime:
        raise Skipped("sessions have no end here: connections.max.reauth.ms is 0")
    return connection


@scenario("SaslHandshake begins another login on the connection.", _KIP, needs=Need.SASL)
async def _begins(server: Server) -> None:
    connection = await _session(server)
    expect_error(await handshake(connection, credentials(server).mechanism), 0)


@scenario("After another login requests on the connection are answered.", _KIP, needs=Need.SASL)
async def _serves_on(server: Server) -> None:
    connection = await _session(server)
    await log_in(server, connection)
    await expect_served(server, connection)


@scenario("Another login cannot have another mechanism.", _KIP, needs=Need.SASL)
async def _other_mechanism(server: Server) -> None:
    mine = credentials(server).mechanism
    offered = (await handshake(await server.new_connection(login=False), mine)).mechanisms
    other = next((name for name in offered if name != mine), None)
    if other is None:
        raise Skipped(f"the listener has no mechanism but {mine}")
    connection = await _session(server)
    answer = await handshake(connection, other)
    if not first_error(answer):
        await expect_ended(connection)


@scenario("Another login with wrong credentials ends the connection.", _KIP, needs=Need.SASL)
async def _wrong(server: Server) -> None:
    connection = await _session(server)
    await handshake(connection, credentials(server).mechanism)
    await expect_refused(connection, b"no token of any mechanism")


SECTION = CheckSection(
    "security/reauthentication",
    "Another login on the same connection",
    {1: _begins, 2: _serves_on, 4: _other_mechanism, 5: _wrong},
)
