"""Requests about delegation tokens, client quotas and SCRAM credentials, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kwire.codec.declaration import Request
from kwire.messages.a38_create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a41_describe_delegation_token import DescribeDelegationTokenRequest
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"
LARGEST = 2**63 - 1
SEEN = 1.5
"""Seconds after which Kafka's controller finds a change of a token: its cache of tokens follows the
log, and makes the passwords' keys for each."""


class EntityStep(NamedTuple):
    """A request, and who sends it through a broker.

    principal: None for one that is sent straight to the controller. token: the step whose answer
    has the token that the request is about. pause: seconds before it.
    """

    request: Request
    principal: str | None = ALICE
    version: int | None = None
    by_delegation_token: bool = False
    token: str | None = None
    pause: float = 0


def _create(*renewers: str, **changes: Any) -> CreateDelegationTokenRequest:
    pairs = [renewer.split(":") for renewer in renewers]
    return CreateDelegationTokenRequest(
        owner_principal_type=None,
        owner_principal_name=None,
        renewers=[CreatableRenewers(principal_type=kind, principal_name=n) for kind, n in pairs],
        max_lifetime_ms=-1,
    ).replace(**changes)


def _owned(type_: str | None, name: str | None) -> CreateDelegationTokenRequest:
    return _create(owner_principal_type=type_, owner_principal_name=name)


def _renew(period: int = -1, hmac: bytes = b"") -> RenewDelegationTokenRequest:
    return RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period)


def _expire(period: int = -1, hmac: bytes = b"") -> ExpireDelegationTokenRequest:
    return ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period)


_OWN, _SHORT = "create with renewers", "create for a millisecond"

TOKENS: Mapping[str, EntityStep] = {
    "create without a login": EntityStep(_create(), None),
    "create for another without a login": EntityStep(_owned("User", "bob"), None),
    "renew without a login": EntityStep(_renew(), None),
    "expire without a login": EntityStep(_expire(), None),
    "create by a token": EntityStep(_create(), by_delegation_token=True),
    "renew by a token": EntityStep(_renew(), by_delegation_token=True),
    "expire by a token": EntityStep(_expire(), by_delegation_token=True),
    "create v1": EntityStep(_create(), version=1),
    "create v2": EntityStep(_create(), version=2),
    _OWN: EntityStep(_create(BOB, CAROL, BOB)),
    "create with a group for a renewer": EntityStep(_create(BOB, "Group:g")),
    "create with a nameless renewer": EntityStep(_create("User:")),
    "create for bob": EntityStep(_owned("User", "bob")),
    "create for a group": EntityStep(_owned("Group", "g")),
    "create for a nameless owner": EntityStep(_owned("User", "")),
    "create for an owner without a type": EntityStep(_owned(None, "bob")),
    "create for an owner with an empty type": EntityStep(_owned("", "bob")),
    "create for no time": EntityStep(_create(max_lifetime_ms=0)),
    "create for a minute": EntityStep(_create(max_lifetime_ms=60_000)),
    "create for ever": EntityStep(_create(max_lifetime_ms=LARGEST)),
    "create for a negative time": EntityStep(_create(max_lifetime_ms=-LARGEST)),
    _SHORT: EntityStep(_create(BOB, max_lifetime_ms=1)),
    "renew": EntityStep(_renew(), token=_OWN, pause=SEEN),
    "renew v1": EntityStep(_renew(), token=_OWN, version=1),
    "renew as a renewer": EntityStep(_renew(30_000), BOB, token=_OWN),
    "renew for ever": EntityStep(_renew(LARGEST), token=_OWN),
    "renew for no time": EntityStep(_renew(0), token=_OWN),
    "renew as somebody": EntityStep(_renew(), "User:mallory", token=_OWN),
    "renew nothing": EntityStep(_renew()),
    "renew an unknown one": EntityStep(_renew(hmac=bytes(64))),
    "renew an ended one": EntityStep(_renew(), token=_SHORT, pause=SEEN),
    "renew an ended one as somebody": EntityStep(_renew(), "User:mallory", token=_SHORT),
    "expire later": EntityStep(_expire(40_000), CAROL, token=_OWN),
    "expire v1": EntityStep(_expire(50_000), token=_OWN, version=1),
    "expire late": EntityStep(_expire(LARGEST), token=_OWN),
    "expire as somebody": EntityStep(_expire(), "User:mallory", token=_OWN),
    "expire nothing": EntityStep(_expire()),
    "expire an ended one as somebody": EntityStep(_expire(0), "User:mallory", token=_SHORT),
    "expire an ended one later": EntityStep(_expire(0), token=_SHORT),
    "expire an ended one": EntityStep(_expire(), token=_SHORT),
    "expire now": EntityStep(_expire(), BOB, token=_OWN),
    "expire now again": EntityStep(_expire(), BOB, token=_OWN, pause=SEEN),
    "renew one that is gone": EntityStep(_renew(), token=_OWN),
}


def _quota(
    entity: list[tuple[str, str | None]],
    *ops: tuple[str, float | None],
    validate_only: bool = False,
) -> EntityStep:
    entry = EntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )
    return EntityStep(AlterClientQuotasRequest(entries=[entry], validate_only=validate_only), None)


_USER: list[tuple[str, str | None]] = [("user", "alice")]
_RATE = "producer_byte_rate"

QUOTAS: Mapping[str, EntityStep] = {
    "quota of a user": _quota(_USER, (_RATE, 1000.0), ("request_percentage", 0.5)),
    "the same quota": _quota(_USER, (_RATE, 1000.0)),
    "only validate": _quota(_USER, (_RATE, 7.0), validate_only=True),
    "quota of the default user": _quota([("user", None)], ("consumer_byte_rate", 5.0)),
    "quota of a user's client": _quota(
        [("client-id", "c"), ("user", "alice")], ("controller_mutation_rate", 2.0)
    ),
    "quota of an ip": _quota([("ip", "10.1.2.3")], ("connection_creation_rate", 9.0)),
    "not a number": _quota(_USER, (_RATE, float("nan"))),
    "infinity": _quota(_USER, (_RATE, float("inf"))),
    "two to the 63rd": _quota(_USER, (_RATE, 2.0**63)),
    "two to the 64th": _quota(_USER, (_RATE, 2.0**64)),
    "zero": _quota(_USER, (_RATE, 0.0)),
    "negative": _quota(_USER, (_RATE, -1.0)),
    "a fraction": _quota(_USER, (_RATE, 1.5)),
    "nearly whole": _quota(_USER, (_RATE, 3.0000001)),
    "a mutation rate of a fraction": _quota(_USER, ("controller_mutation_rate", 0.25)),
    "an unknown quota": _quota(_USER, ("nonsense", 1.0)),
    "removal of an unknown quota": _quota(_USER, ("nonsense", None)),
    "a key twice": _quota(_USER, (_RATE, 1.0), (_RATE, 2.0)),
    "no entity": _quota([], (_RATE, 1.0)),
    "an unknown entity": _quota([("team", "a")], (_RATE, 1.0)),
    "a type twice": _quota([("user", "a"), ("user", "b")], (_RATE, 1.0)),
    "a nameless user": _quota([("user", "")], (_RATE, 1.0)),
    "user and ip": _quota([("user", "a"), ("ip", "10.1.2.3")], (_RATE, 1.0)),
    "removal": _quota(_USER, (_RATE, None), ("request_percentage", None)),
}


def _upsert(name: str, **changes: Any) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"password"
    ).replace(**changes)


def _scram(*changes: ScramCredentialDeletion | ScramCredentialUpsertion) -> EntityStep:
    request = AlterUserScramCredentialsRequest(
        deletions=[item for item in changes if isinstance(item, ScramCredentialDeletion)],
        upsertions=[item for item in changes if isinstance(item, ScramCredentialUpsertion)],
    )
    return EntityStep(request, None)


def _remove(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


CREDENTIALS: Mapping[str, EntityStep] = {
    "a password": _scram(_upsert("alice")),
    "a password for SHA-512": _scram(_upsert("bob", mechanism=2, iterations=16384)),
    "no changes": _scram(),
    "an empty password": _scram(_upsert("carol", salted_password=b"")),
    "an empty salt": _scram(_upsert("carol", salt=b"")),
    "no user": _scram(_upsert("")),
    "too few iterations": _scram(_upsert("dave", iterations=4095)),
    "too many iterations": _scram(_upsert("dave", iterations=16385)),
    "an unknown mechanism": _scram(_upsert("dave", mechanism=3)),
    "a user twice": _scram(_upsert("eve"), _upsert("eve", mechanism=2)),
    "set and removed": _scram(_upsert("alice"), _remove("alice")),
    "removal": _scram(_remove("bob", 2)),
    "removal again": _scram(_remove("bob", 2)),
}

DESCRIBED: Mapping[str, EntityStep] = {
    "tokens": EntityStep(DescribeDelegationTokenRequest(owners=None), None),
}

SCRIPT: Mapping[str, EntityStep] = {
    f"{theme}: {name}": step
    for theme, steps in (
        ("token", TOKENS),
        ("quota", QUOTAS),
        ("SCRAM", CREDENTIALS),
        ("described", DESCRIBED),
    )
    for name, step in steps.items()
}
"""All steps. A `token` of a step is without the theme."""
