"""Logins in right and wrong orders, as bytes, and the answers of a controller to each."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kwire.codec.declaration import Request
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.net.frames import decode_response, encode_request
from kwire.net.quorum_request import quorum_request
from tests.support.tokens import TokenIssuer, unsigned_token

CLOSED = "closed"
WAIT = 60.0
AFTER_A_SECOND = b""
"""In place of a frame: wait, since nobody may log in again within a second."""


@dataclass(frozen=True)
class Step:
    """Bytes to send, and the API and version of their answer; None for a token without a header."""

    data: bytes
    answered: tuple[int, int] | None = None


def ask(request: Request, version: int) -> Step:
    key = type(request).key
    assert key is not None
    return Step(encode_request(request, version, correlation_id=7), (key, version))


def token(data: bytes) -> Step:
    return Step(struct.pack(">i", len(data)) + data)


def handshake(mechanism: str, version: int = 1) -> Step:
    return ask(SaslHandshakeRequest(mechanism=mechanism), version)


def authenticate(data: bytes, version: int = 2) -> Step:
    return ask(SaslAuthenticateRequest(auth_bytes=data), version)


VERSIONS = ask(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
QUORUM = ask(quorum_request(), 2)
AGAIN = Step(AFTER_A_SECOND)


def sequences(user: str, password: str, issuer: TokenIssuer) -> Mapping[str, Sequence[Step]]:
    """user, password: of PLAIN and both kinds of SCRAM."""
    good, wrong = f"\0{user}\0{password}".encode(), f"\0{user}\0wrong".encode()
    plain = handshake("PLAIN")
    first = f"n,,n={user},r=nonce".encode()

    def bearer(text: str) -> Step:
        return authenticate(f"n,,\1auth=Bearer {text}\1\1".encode())

    oauth = handshake("OAUTHBEARER")
    login = (plain, authenticate(good), QUORUM)
    return {
        "a request before the login": (QUORUM,),
        "a request after ApiVersions": (VERSIONS, QUORUM),
        "ApiVersions twice": (VERSIONS, VERSIONS),
        "ApiVersions in an unknown version, then in a known": (
            Step(struct.pack(">ihhihb", 11, 18, 99, 7, -1, 0), (18, 0)),
            VERSIONS,
            plain,
        ),
        "ApiVersions without a proper name, then with": (
            ask(ApiVersionsRequest(client_software_name=" ", client_software_version="1"), 3),
            VERSIONS,
            plain,
        ),
        "ApiVersions after the handshake": (plain, VERSIONS),
        "CreateTopics after the handshake": (plain, ask(CreateTopicsRequest(), 5)),
        "Metadata after the handshake": (plain, ask(MetadataRequest(topics=None), 4)),
        "a token before the handshake": (authenticate(good),),
        "the handshake twice": (plain, plain),
        "the handshake in an unknown version": (
            Step(struct.pack(">ihhih", 10, 17, 9, 7, -1), (17, 0)),
        ),
        "an unknown mechanism": (handshake("DIGEST-MD5"), plain),
        "a mechanism in small letters": (handshake("plain"),),
        "an empty mechanism": (handshake(""),),
        "GSSAPI": (handshake("GSSAPI"),),
        "PLAIN": login,
        "PLAIN with ApiVersions before": (VERSIONS, *login),
        "PLAIN at every version": (
            plain,
            authenticate(good, 0),
            ask(DescribeQuorumRequest(), 0),
        ),
        "PLAIN at version 1": (plain, authenticate(good, 1)),
        "PLAIN without headers": (handshake("PLAIN", 0), token(good), QUORUM),
        "PLAIN without headers, wrong password": (handshake("PLAIN", 0), token(wrong)),
        "PLAIN without headers, a frame for a token": (handshake("PLAIN", 0), authenticate(good)),
        "a token without a header where one is due": (plain, token(good)),
        "wrong password": (plain, authenticate(wrong), authenticate(good)),
        "unknown user": (plain, authenticate(b"\0nobody\0wrong")),
        "acts for itself": (plain, authenticate(f"{user}\0{user}\0{password}".encode())),
        "acts for another": (plain, authenticate(f"root\0{user}\0{password}".encode())),
        "no password": (plain, authenticate(f"\0{user}\0".encode())),
        "no user": (plain, authenticate(f"\0\0{password}".encode())),
        "two parts": (plain, authenticate(user.encode())),
        "four parts": (plain, authenticate(good + b"\0more")),
        "an empty token": (plain, authenticate(b"")),
        "no text": (plain, authenticate(b"\0\xff\xfe\0\xff")),
        "a token in an unknown version": (
            plain,
            Step(struct.pack(">ihhihi", 14, 36, 9, 7, -1, 0), (36, 0)),
        ),
        "garbage": (Step(struct.pack(">i", 8) + b"\xde\xad\xbe\xef" * 2, (0, 0)),),
        "three bytes": (token(b"abc"),),
        "an oversized frame": (Step(struct.pack(">i", 600_000), (0, 0)),),
        "a negative size": (Step(struct.pack(">i", -5), (0, 0)),),
        "the handshake after the login": (*login, plain, plain),
        "a token after the login": (*login, authenticate(good)),
        "another login of the same": (*login, AGAIN, plain, authenticate(good), QUORUM),
        "another login, ApiVersions within": (*login, AGAIN, plain, VERSIONS),
        "another login, wrong password": (*login, AGAIN, plain, authenticate(wrong)),
        "another login by another mechanism": (
            *login,
            AGAIN,
            handshake("SCRAM-SHA-512"),
            authenticate(first),
        ),
        "another login by an unknown mechanism": (*login, AGAIN, handshake("DIGEST-MD5")),
        "SCRAM, unknown user": (
            handshake("SCRAM-SHA-512"),
            authenticate(first),
            authenticate(b"c=biws,r=other,p=" + b"A" * 88),
        ),
        "SCRAM, malformed": (handshake("SCRAM-SHA-256"), authenticate(b"n,,n=,r=")),
        "SCRAM, channel binding wanted": (
            handshake("SCRAM-SHA-256"),
            authenticate(b"p=tls-unique,,n=a,r=b"),
        ),
        "SCRAM, no text": (handshake("SCRAM-SHA-256"), authenticate(b"\xff\xfe")),
        "SCRAM, acts for another": (
            handshake("SCRAM-SHA-512"),
            authenticate(f"n,a=root,n={user},r=nonce".encode()),
        ),
        "a signed token": (oauth, bearer(issuer.token(user)), QUORUM),
        "a signed token of another issuer": (
            oauth,
            bearer(TokenIssuer().token(user)),
            authenticate(b"\1"),
        ),
        "an unsigned token": (oauth, bearer(unsigned_token()), authenticate(b"\1")),
        "a token that is over": (oauth, bearer(issuer.token(user, -3600)), authenticate(b"\1")),
        "a token within the clock skew": (oauth, bearer(issuer.token(user, -5))),
        "a token for others": (oauth, bearer(issuer.token(user, aud="others"))),
        "a token for some": (oauth, bearer(issuer.token(user, aud=["others", "kafka"]))),
        "a token without audience": (oauth, bearer(issuer.token(user, aud=None))),
        "a token of another iss": (oauth, bearer(issuer.token(user, iss="x"))),
        "a token without subject": (oauth, bearer(issuer.token(user, sub=None))),
        "a token with a number for a subject": (oauth, bearer(issuer.token(user, sub=5))),
        "a token with an empty subject": (oauth, bearer(issuer.token(user, sub=" "))),
        "a token without exp": (oauth, bearer(issuer.token(user, exp=None))),
        "a token without iat": (oauth, bearer(issuer.token(user, iat=None))),
        "a token with a text for exp": (oauth, bearer(issuer.token(user, exp="soon"))),
        "a token of tomorrow": (oauth, bearer(issuer.token(user, nbf=4_000_000_000))),
        "a token without scope": (oauth, bearer(issuer.token(user, scope=None))),
        "a token with scopes": (oauth, bearer(issuer.token(user, scope=["a", "b"]))),
        "a token with a scope twice": (oauth, bearer(issuer.token(user, scope=["a", "a"]))),
        "a token with an empty scope": (oauth, bearer(issuer.token(user, scope=[""]))),
        "a token with a number for a scope": (oauth, bearer(issuer.token(user, scope=[5]))),
        "no token": (oauth, authenticate(b"n,,\1\1")),
        "a token of Basic": (oauth, authenticate(b"n,,\1auth=Basic YTpi\1\1")),
        "no JWT": (oauth, bearer("abc")),
        "OAUTHBEARER, malformed": (oauth, authenticate(b"auth=Bearer abc")),
        "OAUTHBEARER, an extension": (
            oauth,
            authenticate(f"n,,\1auth=Bearer {issuer.token(user)}\1trace=1\1\1".encode()),
        ),
        "OAUTHBEARER, a wrong extension": (
            oauth,
            authenticate(f"n,,\1auth=Bearer {issuer.token(user)}\1tr4ce=1\1\1".encode()),
        ),
        "OAUTHBEARER, acts for itself": (
            oauth,
            authenticate(f"n,a={user},\1auth=Bearer {issuer.token(user)}\1\1".encode()),
        ),
        "OAUTHBEARER, acts for another": (
            oauth,
            authenticate(f"n,a=root,\1auth=Bearer {issuer.token(user)}\1\1".encode()),
        ),
    }


async def answers(port: int, steps: Sequence[Step]) -> list[object]:
    """The answer to each step, by what clients can tell apart, up to the end of the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seen: list[object] = []
    try:
        for step in steps:
            if step.data == AFTER_A_SECOND:
                await asyncio.sleep(1.1)
                continue
            writer.write(step.data)
            try:
                async with asyncio.timeout(WAIT):
                    (size,) = struct.unpack(">i", await reader.readexactly(4))
                    frame = await reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError):
                return [*seen, CLOSED]
            seen.append(_summary(frame, step))
        writer.write(VERSIONS.data)  # a connection that is cut off is so by now, or soon
        try:
            async with asyncio.timeout(WAIT):
                await reader.readexactly(4)
            seen.append("open")
        except (asyncio.IncompleteReadError, ConnectionError):
            seen.append(CLOSED)
        return seen
    finally:
        writer.transport.abort()


def _summary(frame: bytes, step: Step) -> object:
    if step.answered is None:
        return "token" if frame else "empty token"
    key, version = step.answered
    body = decode_response(frame, key, version).body
    summary: dict[str, object] = {"api": key, "error": getattr(body, "error_code", None)}
    if isinstance(body, SaslHandshakeResponse):
        summary["mechanisms"] = sorted(body.mechanisms)
    if key == SaslAuthenticateRequest.key:
        summary["message"] = bool(getattr(body, "error_message", None))
        summary["token"] = bool(getattr(body, "auth_bytes", b""))
        summary["ends"] = getattr(body, "session_lifetime_ms", 0) > 0
    return summary
