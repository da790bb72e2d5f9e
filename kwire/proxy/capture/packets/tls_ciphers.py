"""Keys of TLS records: AEAD suites of TLS 1.2 (RFC 5246, 5288, 7905) and of TLS 1.3 (RFC 8446).

The primitives are those of cryptography; what is derived here is derived from a key log's secrets.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from kwire.proxy.capture.packets.tls_handshake import NoKeys, TlsHandshake

_MASTER = "CLIENT_RANDOM"  # the label of TLS 1.2's master secret
_LABELS_13 = tuple(
    (f"{side}_HANDSHAKE_TRAFFIC_SECRET", f"{side}_TRAFFIC_SECRET_0")
    for side in ("CLIENT", "SERVER")
)
LABELS = frozenset({_MASTER, *_LABELS_13[0], *_LABELS_13[1]})
"""The labels of the secrets that are used."""

_TAG = 16  # bytes
_NONCE = 12


@dataclass(frozen=True, slots=True)
class CipherSuite:
    """A cipher with the bytes of its key, and the hash from which keys are derived."""

    cipher: type[AESGCM | ChaCha20Poly1305]
    key_size: int
    digest: str


_AES_128 = CipherSuite(AESGCM, 16, "sha256")
_AES_256 = CipherSuite(AESGCM, 32, "sha384")
_CHACHA = CipherSuite(ChaCha20Poly1305, 32, "sha256")
_SUITES = {
    0x1301: _AES_128,
    0x1302: _AES_256,
    0x1303: _CHACHA,
    # RSA, DHE_RSA, ECDHE_ECDSA and ECDHE_RSA, as IANA numbers them
    **dict.fromkeys((0x009C, 0x009E, 0xC02B, 0xC02F), _AES_128),
    **dict.fromkeys((0x009D, 0x009F, 0xC02C, 0xC030), _AES_256),
    **dict.fromkeys((0xCCAA, 0xCCA9, 0xCCA8), _CHACHA),
}


@dataclass(frozen=True, slots=True)
class RecordKeys:
    """The key of one direction up to its next change. secret: of TLS 1.3, for the next key."""

    suite: CipherSuite
    cipher: AESGCM | ChaCha20Poly1305
    iv: bytes
    secret: bytes = b""

    def updated(self) -> RecordKeys | None:
        """Return the keys behind a KeyUpdate, None before TLS 1.3."""
        if not self.secret:
            return None
        size = len(self.secret)
        return _keys_of_secret(self.suite, _expand(self.suite, self.secret, b"traffic upd", size))

    def open(self, number: int, head: bytes, body: bytes) -> tuple[int, bytes] | None:
        """Return the type and the content of a record, None if it has another key or number."""
        # AES of TLS 1.2 has the end of the nonce in the record.
        explicit = _NONCE - len(self.iv)
        size = max(len(body) - explicit - _TAG, 0)
        about = head if self.secret else number.to_bytes(8) + head[:3] + size.to_bytes(2)
        nonce = self.iv + body[:explicit]
        if not explicit:
            nonce = (int.from_bytes(self.iv) ^ number).to_bytes(_NONCE)
        try:
            content = self.cipher.decrypt(nonce, body[explicit:], about)
        except (InvalidTag, ValueError):  # the latter for a body that is too short
            return None
        if not self.secret:
            return head[0], content
        content = content.rstrip(b"\0")  # the type is behind the content, and before padding
        return (content[-1], content[:-1]) if content else (0, b"")


class DirectionKeys(NamedTuple):
    """The keys of one direction: those of the handshake, where they are known, and the next."""

    first: RecordKeys | None
    following: RecordKeys | None = None


def keys_of(
    secrets: Mapping[str, bytes], handshake: TlsHandshake
) -> tuple[DirectionKeys, DirectionKeys] | None:
    """Return the keys of client and server, None if a secret is missing. Raises NoKeys."""
    assert handshake.suite is not None
    suite = _SUITES.get(handshake.suite)
    if suite is None:
        raise NoKeys(f"TLS with {_name(handshake.suite)}: only AES-GCM and ChaCha20 are decrypted")
    if not handshake.is_13:
        return _keys_of_12(secrets[_MASTER], suite, handshake) if _MASTER in secrets else None
    client, server = (
        DirectionKeys(
            *(_keys_of_secret(suite, secrets[name]) if name in secrets else None for name in names)
        )
        for names in _LABELS_13
    )
    return (client, server) if client.following and server.following else None


def _keys_of_secret(suite: CipherSuite, secret: bytes) -> RecordKeys:
    """Return the keys of a traffic secret of TLS 1.3."""
    key = _expand(suite, secret, b"key", suite.key_size)
    return RecordKeys(suite, suite.cipher(key), _expand(suite, secret, b"iv", _NONCE), secret)


def _keys_of_12(
    master: bytes, suite: CipherSuite, handshake: TlsHandshake
) -> tuple[DirectionKeys, DirectionKeys]:
    sizes = 2 * [suite.key_size] + 2 * [_NONCE if suite is _CHACHA else 4]
    seed = b"key expansion" + handshake.server_random + handshake.client_random
    block = BytesIO(_pseudorandom(master, seed, suite.digest, sum(sizes)))
    client, server, client_iv, server_iv = map(block.read, sizes)
    return (
        DirectionKeys(RecordKeys(suite, suite.cipher(client), client_iv)),
        DirectionKeys(RecordKeys(suite, suite.cipher(server), server_iv)),
    )


def _expand(suite: CipherSuite, secret: bytes, label: bytes, size: int) -> bytes:
    """Return HKDF-Expand-Label without a context; no key is longer than one hash."""
    name = b"tls13 " + label
    info = size.to_bytes(2, "big") + bytes([len(name)]) + name + b"\0"
    return hmac.digest(secret, info + b"\1", suite.digest)[:size]


def _pseudorandom(secret: bytes, seed: bytes, digest: str, size: int) -> bytes:
    """Return so many bytes of TLS 1.2's PRF (RFC 5246, 5)."""
    found, state = b"", seed
    while len(found) < size:
        state = hmac.digest(secret, state, digest)
        found += hmac.digest(secret, state + seed, digest)
    return found[:size]


def _name(suite: int) -> str:
    """Return OpenSSL's name of a suite, or its number."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_ciphers("ALL:COMPLEMENTOFALL:@SECLEVEL=0")
    names = {cipher["id"] & 0xFFFF: cipher["name"] for cipher in context.get_ciphers()}
    return names.get(suite, f"0x{suite:04x}")
