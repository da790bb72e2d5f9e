"""Reads keys and certificates in PEM: blocks of text, and Kafka's stores made of them (KIP-651)."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import wrap

from kwire.errors import InvalidValue
from kwire.permissions import warn_if_readable

CERTIFICATE = "CERTIFICATE"
"""The label of a certificate's block."""

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s(.+?)\s-----END \1-----", re.DOTALL)

_VALUES = {
    "keystore": ("ssl.keystore.key", "ssl.keystore.certificate.chain"),
    "truststore": ("ssl.truststore.certificates",),
}
"""The properties that hold a store themselves, in place of a file."""


@dataclass(frozen=True, slots=True)
class PemBlock:
    """One key or certificate. label: what it is, such as CERTIFICATE; content: its base64."""

    label: str
    content: str = field(repr=False)

    @property
    def der(self) -> bytes:
        """The bytes of the block. Raises ValueError for what is not base64."""
        return b64decode(self.content, validate=True)

    def __str__(self) -> str:
        """Return the block in lines of 64 characters, as OpenSSL needs them."""
        begin, end = f"-----BEGIN {self.label}-----", f"-----END {self.label}-----"
        return "\n".join([begin, *wrap(self.content, 64), end, ""])


def pem_blocks(text: str) -> list[PemBlock]:
    """Return the blocks of a text; what stands between them is ignored, as OpenSSL does.

    A block may stand in one line with spaces in it, as it often does in a property.
    """
    return [PemBlock(label, "".join(body.split())) for label, body in _BLOCK.findall(text)]


def read_store(pairs: Mapping[str, str], store: str) -> str | None:
    """Return the PEM text of a `keystore` or `truststore`; None where the properties have neither.

    It comes from the store's file or from its properties. Raises InvalidValue where both are there,
    where one cannot be read, and for a store of another type than PEM.
    """
    location, names = f"ssl.{store}.location", _VALUES[store]
    present = [name for name in (location, *names) if pairs.get(name)]
    if not present:
        return None
    _require_pem(pairs, store)
    if present == [location]:
        path = Path(pairs[location])
        text = _normalized(_read(path, location), location)
        if store == "keystore" and not pairs.get("ssl.key.password"):
            warn_if_readable(path)
        return text
    if present != list(names):
        raise InvalidValue(f"the {store} is either {location} or {' with '.join(names)}")
    return "".join(_normalized(pairs[name], name) for name in names)


def _require_pem(pairs: Mapping[str, str], store: str) -> None:
    name = f"ssl.{store}.type"
    # Kafka's default is JKS, a format of Java's own.
    kind = pairs.get(name, "JKS").upper()
    if kind != "PEM":
        raise InvalidValue(f"{name} is {kind}: only PEM is read here, set {name}=PEM (KIP-651)")


def _read(path: Path, name: str) -> str:
    # A pipe would be waited for, /dev/zero has no end; and a running node reads its stores anew.
    if path.exists() and not path.is_file():
        raise InvalidValue(f"{name}: {path} is not a file")
    try:
        return path.read_text("ascii")
    except (OSError, ValueError) as error:  # the latter for other letters, or a null byte in a name
        raise InvalidValue(f"{name}: {path} cannot be read: {error}") from None


def _normalized(text: str, name: str) -> str:
    blocks = pem_blocks(text)
    if not blocks:
        raise InvalidValue(f"{name} has no PEM block: -----BEGIN ...")
    return "".join(map(str, blocks))
