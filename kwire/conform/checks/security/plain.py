"""The mechanism PLAIN (RFC 4616, KIP-43, KIP-152)."""

from __future__ import annotations

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.security.sasl import (
    FAILED,
    NOBODY,
    WRONG_PASSWORD,
    credentials,
    expect_ended,
    expect_refused,
    send_token,
    shaken,
)
from kwire.conform.expectation import expect
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Deviation,
    Need,
    SentenceSource,
    guide,
    kafka,
    kip,
    rfc,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateResponse
from kwire.net.sasl import Mechanism

SECTION = CheckSection("security/plain", "The mechanism PLAIN")

_RFC = rfc(4616, "2. PLAIN SASL Mechanism")
_WRONG = f"\0{NOBODY}\0{WRONG_PASSWORD}".encode()


def _refused(sentence: str, source: SentenceSource, token: bytes) -> Check:
    """Return a check that a token of PLAIN is refused with error 58, and ends the connection."""

    @scenario(sentence, source, needs=Need.SASL)
    async def run(server: Server) -> None:
        await expect_refused(await shaken(server, Mechanism.PLAIN), token)

    return run


SECTION[1] = _refused("An unknown user is refused.", _RFC, _WRONG)


@SECTION.check(2, kip(152, "Public Interfaces"), needs=Need.SASL)
async def _(server: Server) -> None:
    """A refused login gets SASL_AUTHENTICATION_FAILED and a message."""
    reaction = await send_token(await shaken(server, Mechanism.PLAIN), _WRONG)
    body = reaction.body
    refused = isinstance(body, SaslAuthenticateResponse) and body.error_code == FAILED
    expect(refused, error_text(FAILED), reaction)
    assert isinstance(body, SaslAuthenticateResponse)
    expect(body.error_message, "a message", repr(body.error_message))


@SECTION.check(3, guide("SASL Authentication Sequence"), needs=Need.SASL)
async def _(server: Server) -> None:
    """After SASL_AUTHENTICATION_FAILED the connection is closed."""
    connection = await shaken(server, Mechanism.PLAIN)
    await send_token(connection, _WRONG)
    await expect_ended(connection)


@SECTION.check(4, kafka("PlainSaslServer.evaluateResponse"), needs=Need.SASL)
async def _(server: Server) -> None:
    """An unknown user and a wrong password have the same message."""
    user = credentials(server, Mechanism.PLAIN).username
    messages = []
    for name in (user, NOBODY):
        token = f"\0{name}\0{WRONG_PASSWORD}".encode()
        body = await expect_refused(await shaken(server, Mechanism.PLAIN), token)
        messages.append((body.error_message or "").replace(name, "USER"))
    if messages[0] != messages[1]:
        raise Deviation(repr(messages[0]), repr(messages[1]), ConformanceVerdict.DIFFERS)


SECTION[5] = _refused("A token without NUL is refused.", _RFC, b"alice")
SECTION[6] = _refused("A token with a part too many is refused.", _RFC, _WRONG + b"\0more")
SECTION[7] = _refused("A token without a user is refused.", _RFC, b"\0\0password")
SECTION[8] = _refused("A token without a password is refused.", _RFC, f"\0{NOBODY}\0".encode())
SECTION[9] = _refused("A token that is not UTF-8 is refused.", _RFC, b"\0\xff\xfe\0\xc0\x80")


@SECTION.check(10, _RFC, needs=Need.SASL)
async def _(server: Server) -> None:
    """Nobody may act for another user."""
    user = credentials(server, Mechanism.PLAIN)
    connection = await shaken(server, Mechanism.PLAIN)
    with server.transcript.private():
        token = f"{NOBODY}\0{user.username}\0{user.password}".encode()
        await expect_refused(connection, token)
