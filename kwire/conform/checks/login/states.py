"""The states of a server's authenticator in which no client is logged in, and the ways into them.

Java: SaslServerAuthenticator.SaslState, KafkaChannel.maybeBeginServerReauthentication.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kwire.conform.checks.security.handshake import UNKNOWN
from kwire.conform.checks.security.sasl import (
    NOBODY,
    WRONG_PASSWORD,
    credentials,
    expect_served,
    handshake,
    log_in,
    send_token,
)
from kwire.conform.checks.security.scram import BOTH, challenge
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Need, SentenceSource, Skipped, guide, kip
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kwire.net.address import Address
from kwire.net.negotiation import api_versions_request
from kwire.net.sasl import Credentials, Login, Mechanism
from kwire.net.scram_keys import salted_password

LONGEST_WAIT = 20.0
"""Seconds that a check waits for the end of a session."""
AT_ONCE = 100
"""Members of a family that wait together for the end of their sessions: all that there are."""

_BEYOND = 0.25
"""Seconds behind the end of a session."""
_SALT = b"kwire-conform"
_ITERATIONS = 4096
_NUMBERS = {Mechanism.SCRAM_SHA_256: 1, Mechanism.SCRAM_SHA_512: 2}
SEQUENCE = guide("SASL Authentication Sequence")
_LOGINS = kip(152, "Public Interfaces")
_AGAIN = kip(368, "Public Interfaces")

Enter = Callable[[Server, Address], Awaitable[CheckedConnection]]
"""Opens a connection to an address, and returns it in a state. Raises Skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnauthenticatedState:
    """A state in which only requests of a login are served.

    when: begins the sentence of a check. needs: beside the server. together: members of a family
    that are run at once.
    """

    when: str
    source: SentenceSource
    enter: Enter
    needs: Need = Need.SASL
    together: int = 8


async def _new(server: Server, address: Address) -> CheckedConnection:
    return await server.new_connection(address, login=False)


async def _after_versions(server: Server, address: Address) -> CheckedConnection:
    connection = await _new(server, address)
    await connection.ask(api_versions_request(), 0)
    return connection


async def _shaken(server: Server, address: Address) -> CheckedConnection:
    """Return a connection that proposed the mechanism of the credentials, and had it taken."""
    connection = await _new(server, address)
    await _shake(server, connection)
    return connection


async def _shake(server: Server, connection: CheckedConnection) -> None:
    expect_error(await handshake(connection, credentials(server).mechanism), ErrorCode.NONE)


async def _shaken_without_headers(server: Server, address: Address) -> CheckedConnection:
    connection = await _new(server, address)
    # Also where it is not offered: who wants in does not ask.
    await connection.exchange(SaslHandshakeRequest(mechanism=credentials(server).mechanism), 0)
    return connection


async def _unknown_mechanism(server: Server, address: Address) -> CheckedConnection:
    connection = await _new(server, address)
    await handshake(connection, UNKNOWN)
    return connection


async def _half_scram(server: Server, address: Address) -> CheckedConnection:
    credentials(server, *BOTH)
    connection = await _shaken(server, address)
    await challenge(server, connection)
    return connection


async def _refused(server: Server, address: Address) -> CheckedConnection:
    connection = await _shaken(server, address)
    await send_token(connection, _wrong(server))
    return connection


async def _behind_a_wrong_token(server: Server, address: Address) -> CheckedConnection:
    connection = await _shaken(server, address)
    await connection.send(connection.frame(SaslAuthenticateRequest(auth_bytes=_wrong(server))))
    return connection


async def _shaken_twice(server: Server, address: Address) -> CheckedConnection:
    connection = await _shaken(server, address)
    with suppress(Deviation):  # it may be refused in any way
        await handshake(connection, credentials(server).mechanism)
    return connection


async def _over(server: Server, address: Address) -> CheckedConnection:
    connection, lifetime = await _session(server, address)
    if lifetime > LONGEST_WAIT:
        text = f"sessions last {lifetime:g} s here, and a check waits {LONGEST_WAIT:g} s at most"
        raise Skipped(f"{text}: set connections.max.reauth.ms lower")
    await asyncio.sleep(lifetime + _BEYOND)
    return connection


async def _another_login(server: Server, address: Address) -> CheckedConnection:
    connection, _ = await _session(server, address)
    await _shake(server, connection)
    return connection


async def _other_mechanism(server: Server, address: Address) -> CheckedConnection:
    own = credentials(server).mechanism
    offered = (await handshake(await _new(server, address), own)).mechanisms
    other = next((name for name in offered if name != own), None)
    if other is None:
        raise Skipped(f"the listener has no mechanism but {own}")
    connection, _ = await _session(server, address)
    with suppress(Deviation):
        await handshake(connection, other)
    return connection


async def _another_principal(server: Server, address: Address) -> CheckedConnection:
    other = await _own_user(server, address)
    connection, _ = await _session(server, address)
    with suppress(Deviation, BrokerError):
        await connection.log_in(Login(other, connection.peer))
    return connection


async def _refused_again(server: Server, address: Address) -> CheckedConnection:
    connection = await _another_login(server, address)
    await send_token(connection, _wrong(server))
    return connection


async def _certificate_only(server: Server, address: Address) -> CheckedConnection:
    tls = server.target.security.tls
    if tls is None or not (tls.certificate or tls.keystore):
        raise Skipped("it needs a client's certificate beside the credentials, ssl.keystore.*")
    return await _new(server, address)


async def _session(server: Server, address: Address) -> tuple[CheckedConnection, float]:
    """Return a connection that is logged in, and the seconds of its session. Raises Skipped.

    It has been served: who remembers that, and not for how long, serves it on.
    """
    connection = await _new(server, address)
    lifetime = (await log_in(server, connection)).lifetime
    if not lifetime:
        raise Skipped("sessions have no end here: connections.max.reauth.ms is 0")
    await expect_served(server, connection)
    return connection, lifetime


def _wrong(server: Server) -> bytes:
    """Return a token that the mechanism of the credentials refuses."""
    if credentials(server).mechanism is Mechanism.PLAIN:
        return f"\0{NOBODY}\0{WRONG_PASSWORD}".encode()
    return b"no token of any mechanism"


async def _own_user(server: Server, address: Address) -> Credentials:
    """Return the credentials of a user of the check's own, once one can log in with them."""
    mechanism = credentials(server, *BOTH).mechanism
    name, number = server.name(), _NUMBERS[mechanism]
    other = Credentials(mechanism=mechanism, username=name, password=name)

    async def remove() -> None:
        deletion = ScramCredentialDeletion(name=name, mechanism=number)
        await server.ask_controller(AlterUserScramCredentialsRequest(deletions=[deletion]))

    async def opens() -> bool:
        try:
            await (await _new(server, address)).log_in(Login(other, str(address)))
        except BrokerError:
            return False
        return True

    server.remove_afterwards(f"SCRAM credential of {name}", remove)
    upsertion = ScramCredentialUpsertion(
        name=name,
        mechanism=number,
        iterations=_ITERATIONS,
        salt=_SALT,
        salted_password=salted_password(mechanism, name.encode(), _SALT, _ITERATIONS),
    )
    request = AlterUserScramCredentialsRequest(upsertions=[upsertion])
    expect_error(await server.ask_controller(request), ErrorCode.NONE)
    await server.wait_for(f"a login of {name}", opens)
    return other


STATES: Mapping[int, UnauthenticatedState] = {
    1: UnauthenticatedState(when="On a new connection", source=SEQUENCE, enter=_new),
    2: UnauthenticatedState(when="After ApiVersions", source=SEQUENCE, enter=_after_versions),
    3: UnauthenticatedState(
        when="In place of a token without a header",
        source=kip(43, "Public Interfaces"),
        enter=_shaken_without_headers,
    ),
    4: UnauthenticatedState(when="In place of the first token", source=_LOGINS, enter=_shaken),
    5: UnauthenticatedState(
        when="After a mechanism that the listener lacks", source=SEQUENCE, enter=_unknown_mechanism
    ),
    6: UnauthenticatedState(
        when="In place of SCRAM's second token", source=SEQUENCE, enter=_half_scram
    ),
    7: UnauthenticatedState(when="After a token that is refused", source=_LOGINS, enter=_refused),
    8: UnauthenticatedState(
        when="Right behind a wrong token, before it is answered",
        source=_LOGINS,
        enter=_behind_a_wrong_token,
    ),
    9: UnauthenticatedState(
        when="After a second handshake in place of the token", source=_LOGINS, enter=_shaken_twice
    ),
    10: UnauthenticatedState(
        when="When the session is over",
        source=kip(368, "Proposed Changes"),
        enter=_over,
        together=AT_ONCE,
    ),
    11: UnauthenticatedState(
        when="In place of the token of another login", source=_AGAIN, enter=_another_login
    ),
    12: UnauthenticatedState(
        when="After another login is begun with another mechanism",
        source=_AGAIN,
        enter=_other_mechanism,
    ),
    13: UnauthenticatedState(
        when="After another login as another principal",
        source=_AGAIN,
        enter=_another_principal,
        needs=Need.SASL | Need.RESOURCES,
    ),
    14: UnauthenticatedState(
        when="After another login that is refused", source=_AGAIN, enter=_refused_again
    ),
    15: UnauthenticatedState(
        when="With a client's certificate and no login",
        source=kip(684, "Proposed Changes"),
        enter=_certificate_only,
        needs=Need.SASL | Need.TLS,
    ),
}
"""The states by the number that their check has in each section."""
