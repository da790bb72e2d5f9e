"""The SCRAM credentials with which a cluster begins (KIP-900: `format --add-scram-file`)."""

from __future__ import annotations

import secrets
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass, field

from kwire.batches.metadata_records import VersionedRecord
from kwire.errors import InvalidValue
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.net.scram_keys import (
    LEAST_ITERATIONS,
    MOST_ITERATIONS,
    salted_password,
    scram_keys,
)
from kwire.text.untrusted import whole_number

_MECHANISMS = {"SCRAM-SHA-256": 1, "SCRAM-SHA-512": 2}
_NAMES = {"name", "password", "salt", "saltedpassword", "iterations"}
_SALT_LENGTH = 26
_FORM = "SCRAM-SHA-256=[name=alice,password=SECRET]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCredential:
    """A user's credential for one mechanism.

    salted_password: as `scram_keys` takes it.
    """

    mechanism: str
    name: str
    salt: bytes = field(repr=False)
    salted_password: bytes = field(repr=False)
    iterations: int

    @classmethod
    def of_password(cls, mechanism: str, name: str, password: str) -> FirstCredential:
        """Return the credential of a password, with a random salt."""
        salt = secrets.token_bytes(_SALT_LENGTH)
        salted = salted_password(mechanism, password.encode(), salt, LEAST_ITERATIONS)
        return cls(
            mechanism=mechanism,
            name=name,
            salt=salt,
            salted_password=salted,
            iterations=LEAST_ITERATIONS,
        )

    @classmethod
    def parse(cls, text: str) -> FirstCredential:
        """Read an argument of Kafka's --add-scram (Java: ScramParser).

        1. A mechanism, and pairs of name and value in brackets, with commas between.
        2. A name, and a password, or a salted password with its salt; nothing that is not known.
        3. 4,096 to 16,384 iterations.

        Raises InvalidValue, which holds no secret.
        """
        # 1.
        mechanism, _, rest = text.strip().partition("=")
        if mechanism not in _MECHANISMS:
            known = " and ".join(_MECHANISMS)
            raise InvalidValue(f"a SCRAM credential is of {known}: write {_FORM}")
        if not (rest.startswith("[") and rest.endswith("]")):
            raise InvalidValue(f"a SCRAM credential stands in brackets: write {_FORM}")
        # Java's split leaves out what is empty at the end.
        pairs = dict(map(_pair, (rest[1:-1].rstrip(",") or " ").split(",")))
        # 2.
        if unknown := sorted(set(pairs) - _NAMES):
            raise InvalidValue(f"a SCRAM credential has no {unknown[0]}: write {_FORM}")
        password, salted = pairs.get("password"), pairs.get("saltedpassword")
        if not pairs.get("name") or (password is None and (salted is None or "salt" not in pairs)):
            text = "needs a name and a password, or a saltedpassword and its salt"
            raise InvalidValue(f"a SCRAM credential {text}: write {_FORM}")
        # 3.
        iterations = whole_number(pairs.get("iterations", str(LEAST_ITERATIONS)), bits=31)
        if iterations is None or not LEAST_ITERATIONS <= iterations <= MOST_ITERATIONS:
            text = f"{LEAST_ITERATIONS} to {MOST_ITERATIONS} iterations"
            raise InvalidValue(f"a SCRAM credential has {text}")
        salt = _bytes(pairs["salt"]) if "salt" in pairs else secrets.token_bytes(_SALT_LENGTH)
        if password is None:
            salted_bytes = _bytes(salted or "")
        else:
            salted_bytes = salted_password(mechanism, password.encode(), salt, iterations)
        return cls(
            mechanism=mechanism,
            name=pairs["name"],
            salt=salt,
            salted_password=salted_bytes,
            iterations=iterations,
        )

    def record(self) -> VersionedRecord:
        """Return the record that writes it down."""
        keys = scram_keys(self.mechanism, self.salted_password)
        record = UserScramCredentialRecord(
            name=self.name,
            mechanism=_MECHANISMS[self.mechanism],
            salt=self.salt,
            stored_key=keys.stored_key,
            server_key=keys.server_key,
            iterations=self.iterations,
        )
        return VersionedRecord(record=record, version=0)


def parse_credentials(texts: Iterable[str]) -> tuple[FirstCredential, ...]:
    """Read the lines of --add-scram-file. Raises InvalidValue."""
    return tuple(map(FirstCredential.parse, texts))


def _pair(text: str) -> tuple[str, str]:
    # Nothing is stripped: a password may end with a space.
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidValue(f"a SCRAM credential has pairs of name=value: write {_FORM}")
    is_quoted = len(value) >= 2 and value[0] == value[-1] == '"'
    return name, value[1:-1] if is_quoted else value


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise InvalidValue("salt and saltedpassword of a SCRAM credential are Base64") from None
