"""The mechanisms SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677, KIP-84)."""

from __future__ import annotations

from base64 import b64encode

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.security.sasl import (
    NOBODY,
    credentials,
    expect_ended,
    expect_refused,
    expect_served,
    handshake,
    log_in,
    send_token,
    shaken,
)
from kwire.conform.connection import CheckedConnection
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Need, SentenceSource, Skipped, documentation, rfc
from kwire.error_codes import ErrorCode
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateResponse
from kwire.net.sasl import Mechanism

SECTION = CheckSection("security/scram", "The mechanisms SCRAM-SHA-256 and SCRAM-SHA-512")

_RFC = rfc(5802, "5.1. SCRAM Attributes")
_HEADER = rfc(5802, "6. Channel Binding")
BOTH = (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512)
_NONCE = "kwireconform"
_LEAST = 4096
"""Iterations (RFC 7677, KIP-84)."""


async def _begun(server: Server) -> CheckedConnection:
    """Return a connection after a handshake with the mechanism of the credentials."""
    return await shaken(server, credentials(server, *BOTH).mechanism)


def _first(server: Server, extension: str = "") -> bytes:
    """Return the first message of a user that there is."""
    name = credentials(server, *BOTH).username.replace("=", "=3D").replace(",", "=2C")
    return f"n,,{extension}n={name},r={_NONCE}".encode()


async def challenge(server: Server, connection: CheckedConnection) -> dict[str, str]:
    """Send the first message; return the attributes of the answer."""
    reaction = await send_token(connection, _first(server))
    body = reaction.body
    if not isinstance(body, SaslAuthenticateResponse) or body.error_code:
        raise Deviation("the server's first message", str(reaction))
    parts = body.auth_bytes.decode("utf-8", "replace").split(",")
    return {part[:1]: part[2:] for part in parts}


def _final(nonce: str, proof: str = "AAAA") -> bytes:
    binding = b64encode(b"n,,").decode()
    return f"c={binding},r={nonce},p={proof}".encode()


async def _any_scram(server: Server) -> CheckedConnection:
    """Return a connection after a handshake with either mechanism. Raises Skipped."""
    probe = await server.new_connection(login=False)
    answer = await handshake(probe, BOTH[0])
    offered = [mechanism for mechanism in BOTH if mechanism in answer.mechanisms]
    if not offered:
        raise Skipped("the listener has no SCRAM")
    return await shaken(server, offered[0])


def _refused_first(sentence: str, source: SentenceSource, token: bytes) -> Check:
    """Return a check that a first message is refused with error 58."""

    @scenario(sentence, source, needs=Need.SASL)
    async def run(server: Server) -> None:
        await expect_refused(await _any_scram(server), token)

    return run


SECTION[1] = _refused_first("An invalid first message is refused.", _RFC, b"no message of SCRAM")


@SECTION.check(2, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """An unknown user is refused, at the latest with the proof."""
    connection = await _any_scram(server)
    reaction = await send_token(connection, f"n,,n={NOBODY},r={_NONCE}".encode())
    body = reaction.body
    if isinstance(body, SaslAuthenticateResponse) and not body.error_code:
        nonce = body.auth_bytes.decode("utf-8", "replace").split(",")[0][2:]
        await expect_refused(connection, _final(nonce))
        return
    expect_equal("error", getattr(body, "error_code", None), ErrorCode.SASL_AUTHENTICATION_FAILED)
    await expect_ended(connection)


@SECTION.check(3, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """The server's nonce begins with the client's, and is longer."""
    nonce = (await challenge(server, await _begun(server))).get("r", "")
    goes_on = nonce.startswith(_NONCE) and len(nonce) > len(_NONCE)
    expect(goes_on, f"{_NONCE} and more", repr(nonce))


@SECTION.check(4, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """Two logins have two nonces."""
    first, second = [(await challenge(server, await _begun(server))).get("r") for _ in range(2)]
    expect(first != second, "two nonces", f"{first!r} twice")


@SECTION.check(5, documentation("Security Considerations for SASL/SCRAM"), needs=Need.SASL)
async def _(server: Server) -> None:
    """Passwords are hashed 4,096 times or more."""
    count = (await challenge(server, await _begun(server))).get("i", "")
    expect(count.isdecimal() and int(count) >= _LEAST, f"{_LEAST} or more", repr(count))


@SECTION.check(6, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """A wrong proof is refused, and ends the connection."""
    connection = await _begun(server)
    nonce = (await challenge(server, connection)).get("r", "")
    length = 32 if credentials(server).mechanism is Mechanism.SCRAM_SHA_256 else 64
    await expect_refused(connection, _final(nonce, b64encode(bytes(length)).decode()))


@SECTION.check(7, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """A final message with another nonce is refused."""
    connection = await _begun(server)
    await challenge(server, connection)
    await expect_refused(connection, _final(f"{_NONCE}x"))


@SECTION.check(8, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """An invalid final message is refused."""
    connection = await _begun(server)
    await challenge(server, connection)
    await expect_refused(connection, b"no message of SCRAM")


@SECTION.check(9, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """The server proves that it knows the password, too."""
    credentials(server, *BOTH)
    connection = await server.connection_before_login()
    await log_in(server, connection)
    await expect_served(server, connection)


SECTION[10] = _refused_first(
    "A client that asks for channel binding is refused: the mechanism has none.",
    _HEADER,
    f"p=tls-unique,,n={NOBODY},r={_NONCE}".encode(),
)


@SECTION.check(11, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """The attribute m, reserved for extensions, is refused."""
    await expect_refused(await _begun(server), _first(server, extension="m=kwire,"))
