"""The words that a document may have: types, mechanisms, operations, and bytes in base64."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from hashlib import new as new_hash
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator

from kwire.messages.config_resource import ResourceType
from kwire.net.scram_keys import HASHES, scram_keys
from kwire.text.untrusted import cut_repr, did_you_mean

RESOURCE_TYPES: Mapping[int, str] = MappingProxyType(
    {
        ResourceType.BROKER: "brokers",
        ResourceType.BROKER_LOGGER: "broker-loggers",
        ResourceType.CLIENT_METRICS: "client-metrics",
        ResourceType.GROUP: "groups",
    }
)
"""Names of configured resources other than topics, as `--entity-type` of kafka-configs has them."""

RESOURCE_NUMBERS: Mapping[str, int] = MappingProxyType(
    {word: number for number, word in RESOURCE_TYPES.items()}
)

_ONLY_IN_FILTERS = frozenset({"UNKNOWN", "ANY", "MATCH"})


def word_of(words: type[IntEnum] | Iterable[str]) -> Callable[[str], str]:
    """Return a validator for one of these words, or the number of one that is newer than kwire."""
    known = [w.name for w in words] if isinstance(words, type) else [*words]
    known = [word for word in known if word not in _ONLY_IN_FILTERS]

    def check(word: str) -> str:
        if word in known or (word.isascii() and word.isdecimal()):
            return word
        similar = did_you_mean(word, known) or did_you_mean(word.upper(), known)
        raise ValueError(f"{cut_repr(word)} is none of {', '.join(known)}{similar}")

    return check


def _check_base64(text: str) -> str:
    try:
        if b64decode(text, validate=True):
            return text
    except (binascii.Error, ValueError):
        pass
    raise ValueError("this must be bytes in base64")  # never the text: it may be a password


ScramBytes = Annotated[str, AfterValidator(_check_base64)]
"""Bytes in base64: a salt, a salted password."""


def scram_bytes(text: str) -> bytes:
    """Return the bytes of a text that was checked."""
    return b64decode(text)


def salted_length(mechanism: str) -> int:
    """Return the bytes of a salted password: those of the mechanism's hash."""
    return new_hash(HASHES[mechanism]).digest_size


def key_fingerprint(mechanism: str, salted_password: bytes) -> str:
    """Return the fingerprint of the key that nodes store of a salted password."""
    return stored_key_fingerprint(scram_keys(mechanism, salted_password).stored_key)


def stored_key_fingerprint(stored_key: bytes) -> str:
    """Return a hash that tells two stored keys apart, too short to test passwords with."""
    return f"sha256:{sha256(stored_key).hexdigest()[:8]}"
