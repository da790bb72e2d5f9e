"""A client's part of SCRAM (RFC 5802), without channel binding, as Kafka has it (KIP-84).

Kafka takes names and passwords as they are; the RFC would have them prepared by SASLprep.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Generator
from hmac import compare_digest, digest
from secrets import token_urlsafe

from kwire.net.scram_keys import HASHES, LEAST_ITERATIONS, salted_password, scram_keys

ITERATIONS_LIMIT = 100_000
"""Most iterations of SCRAM, about a tenth of a second, that a node may ask for. Kafka lets nobody
have more than 16,384."""

_HEADER = "n,,"
"""No channel binding, and no other user to act for."""

_NAME = re.compile(r"[\x01-\x7f]+")
_FIRST = re.compile(
    r"r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+),s=(?P<salt>[^,]+),i=(?P<count>\d{1,20})(?:,.+)?"
)


class BadScram(ValueError):
    """The node's token is not what SCRAM prescribes, or the node is not what it claims."""


def can_name(user: str) -> bool:
    """Return True for a name that Kafka's servers can read in a token."""
    return _NAME.fullmatch(user) is not None


def scram_exchange(
    mechanism: str, user: str, password: str, *, extensions: str = ""
) -> Generator[bytes, bytes, None]:
    """Yield the tokens of a login; the node's are sent in. Raises BadScram.

    1. The first token names the user and has a nonce of ours, and the extensions that are signed.
    2. The node sends salt, count and nonce. A count that would keep us busy is refused.
    3. The second token proves the password for both nonces.
    4. The node proves that it knows the password.
    """
    # 1.
    nonce = token_urlsafe(24)
    name = user.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={name},r={nonce}{extensions}"
    challenge = _text((yield f"{_HEADER}{bare}".encode()))
    # 2.
    first = _FIRST.fullmatch(challenge)
    if first is None:
        raise BadScram(_refusal(challenge, "its challenge is malformed"))
    if not first["nonce"].startswith(nonce) or first["nonce"] == nonce:
        raise BadScram("its nonce does not begin with the client's")
    count = int(first["count"])
    if count < LEAST_ITERATIONS:
        raise BadScram(f"{count} iterations are too few")
    if count > ITERATIONS_LIMIT:
        raise BadScram(f"{count} iterations are too many")
    salted = salted_password(mechanism, password.encode(), _base64(first["salt"]), count)
    # 3.
    stored_key, server_key = scram_keys(mechanism, salted)
    final = f"c={b64encode(_HEADER.encode()).decode()},r={first['nonce']}"
    signed = f"{bare},{challenge},{final}".encode()
    proof = _proof(HASHES[mechanism], salted, stored_key, signed)
    answer = _text((yield f"{final},p={proof}".encode()))
    # 4.
    if not answer.startswith("v="):
        raise BadScram(_refusal(answer, "its last token is malformed"))
    signature = digest(server_key, signed, HASHES[mechanism])
    if not compare_digest(_base64(answer[2:].partition(",")[0]), signature):
        raise BadScram("it does not prove that it knows the password")


def _proof(name: str, salted: bytes, stored_key: bytes, signed: bytes) -> str:
    client_key = digest(salted, b"Client Key", name)
    signature = digest(stored_key, signed, name)
    return b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def _refusal(token: str, otherwise: str) -> str:
    return f"it says {token[2:300]}" if token.startswith("e=") else otherwise


def _base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise BadScram("a part of its token is not base64") from error
