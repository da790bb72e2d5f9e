"""Requests about delegation tokens, client quotas and SCRAM credentials, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from tests.support.controller.live.admin_session import Step

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"
LARGEST = 2**63 - 1
SEEN, REMOVED = 6, 8
"""Seconds after which Kafka's controller finds a token, or finds none any more: its cache of tokens
follows the log, and makes the passwords' keys for each."""


def _forwarded(request: Request, principal: str = ALICE, **changes: Any) -> Step:
    """Return a step of a client; `SCRIPT` names it."""
    return Step(name="", request=request, principal=principal, **changes)


def _straight(request: Request) -> Step:
    return Step(name="", request=request)


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

TOKENS: Mapping[str, Step] = {
    "create without a login": _straight(_create()),
    "create for another without a login": _straight(_owned("User", "bob")),
    "renew without a login": _straight(_renew()),
    "expire without a login": _straight(_expire()),
    "create by a token": _forwarded(_create(), by_delegation_token=True),
    "renew by a token": _forwarded(_renew(), by_delegation_token=True),
    "expire by a token": _forwarded(_expire(), by_delegation_token=True),
    "create v1": _forwarded(_create(), version=1),
    "create v2": _forwarded(_create(), version=2),
    _OWN: _forwarded(_create(BOB, CAROL, BOB)),
    "create with a group for a renewer": _forwarded(_create(BOB, "Group:g")),
    "create with a nameless renewer": _forwarded(_create("User:")),
    "create for bob": _forwarded(_owned("User", "bob")),
    "create for a group": _forwarded(_owned("Group", "g")),
    "create for a nameless owner": _forwarded(_owned("User", "")),
    "create for an owner without a type": _forwarded(_owned(None, "bob")),
    "create for an owner with an empty type": _forwarded(_owned("", "bob")),
    "create for no time": _forwarded(_create(max_lifetime_ms=0)),
    "create for a minute": _forwarded(_create(max_lifetime_ms=60_000)),
    "create for ever": _forwarded(_create(max_lifetime_ms=LARGEST)),
    "create for a negative time": _forwarded(_create(max_lifetime_ms=-LARGEST)),
    _SHORT: _forwarded(_create(BOB, max_lifetime_ms=1)),
    "renew": _forwarded(_renew(), token=_OWN, pause=SEEN),
    "renew v1": _forwarded(_renew(), token=_OWN, version=1),
    "renew as a renewer": _forwarded(_renew(30_000), BOB, token=_OWN),
    "renew for ever": _forwarded(_renew(LARGEST), token=_OWN),
    "renew for no time": _forwarded(_renew(0), token=_OWN),
    "renew as somebody": _forwarded(_renew(), "User:mallory", token=_OWN),
    "renew nothing": _forwarded(_renew()),
    "renew an unknown one": _forwarded(_renew(hmac=bytes(64))),
    "renew an ended one": _forwarded(_renew(), token=_SHORT, pause=SEEN),
    "renew an ended one as somebody": _forwarded(_renew(), "User:mallory", token=_SHORT),
    "expire later": _forwarded(_expire(40_000), CAROL, token=_OWN),
    "expire v1": _forwarded(_expire(50_000), token=_OWN, version=1),
    "expire late": _forwarded(_expire(LARGEST), token=_OWN),
    "expire as somebody": _forwarded(_expire(), "User:mallory", token=_OWN),
    "expire nothing": _forwarded(_expire()),
    "expire an ended one as somebody": _forwarded(_expire(0), "User:mallory", token=_SHORT),
    "expire an ended one later": _forwarded(_expire(0), token=_SHORT),
    "expire an ended one": _forwarded(_expire(), token=_SHORT),
    "expire now": _forwarded(_expire(), BOB, token=_OWN),
    "expire now again": _forwarded(_expire(), BOB, token=_OWN, pause=REMOVED),
    "renew one that is gone": _forwarded(_renew(), token=_OWN),
}


ADDRESSES = (
    *("010.0.0.1", "10.0.0.010", "08.1.1.1", "10.1", "1.2.3", "1", "010", "4294967295", "1.65536"),
    *("1.2.65535", "1.16777215", "0.0.0.0", "::1", "[::1]", "::", "::00001", "::ffff:10.0.0.1"),
    *("fe80::1%1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::1.2.3.004", "::ffff:0:0", "FD00::A"),
)
NO_ADDRESSES = (
    *("256.0.0.1", "10.0.0.1 ", " 10.0.0.1", "1.2.3.4.5", "1.2.65536", "1.16777216", "4294967296"),
    *("1..2.3", "1.2.3.", "+1.2.3.4", "-1", "0x10.0.0.1", "1.2.3.4/8", "0000000000000001", "a b"),
    *("1::2::3", ":", "::%", "::1.2.3", "1:2:3:4:5:6:7:8:9", "12345::", "[1.2.3.4]", "[::1"),
    *("::1%2147483648", "::ffff:10.0.0.1%1", "", "no.such.host.invalid"),
)
"""Texts that InetAddress.getByName takes for an address, and others, which it looks up as names."""


def _quota(
    entity: list[tuple[str, str | None]],
    *ops: tuple[str, float | None],
    validate_only: bool = False,
) -> Step:
    entry = EntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )
    return _straight(AlterClientQuotasRequest(entries=[entry], validate_only=validate_only))


_USER: list[tuple[str, str | None]] = [("user", "alice")]
_RATE = "producer_byte_rate"

QUOTAS: Mapping[str, Step] = {
    "quota of a user": _quota(_USER, (_RATE, 1000.0), ("request_percentage", 0.5)),
    "the same quota": _quota(_USER, (_RATE, 1000.0)),
    "only validate": _quota(_USER, (_RATE, 7.0), validate_only=True),
    "quota of the default user": _quota([("user", None)], ("consumer_byte_rate", 5.0)),
    "quota of a user's client": _quota(
        [("client-id", "c"), ("user", "alice")], ("controller_mutation_rate", 2.0)
    ),
    "quota of an ip": _quota([("ip", "10.1.2.3")], ("connection_creation_rate", 9.0)),
    "not a number": _quota(_USER, (_RATE, float("nan"))),
    "an infinite percentage": _quota(_USER, ("request_percentage", float("inf"))),
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
    "addresses": _straight(
        AlterClientQuotasRequest(
            entries=[
                EntryData(
                    entity=[EntityData(entity_type="ip", entity_name=address)],
                    ops=[OpData(key="connection_creation_rate", value=9.0, remove=False)],
                )
                for address in (*ADDRESSES, *NO_ADDRESSES)
            ]
        )
    ),
}


def _upsert(name: str, **changes: Any) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=1, iterations=4096, salt=b"salt", salted_password=b"password"
    ).replace(**changes)


def _scram(*changes: ScramCredentialDeletion | ScramCredentialUpsertion) -> Step:
    request = AlterUserScramCredentialsRequest(
        deletions=[item for item in changes if isinstance(item, ScramCredentialDeletion)],
        upsertions=[item for item in changes if isinstance(item, ScramCredentialUpsertion)],
    )
    return _straight(request)


def _remove(name: str, mechanism: int = 1) -> ScramCredentialDeletion:
    return ScramCredentialDeletion(name=name, mechanism=mechanism)


CREDENTIALS: Mapping[str, Step] = {
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

DESCRIBED: Mapping[str, Step] = {
    "tokens": _straight(DescribeDelegationTokenRequest(owners=None)),
}

SCRIPT: tuple[Step, ...] = tuple(
    replace(step, name=f"{theme}: {name}", token=step.token and f"{theme}: {step.token}")
    for theme, steps in (
        ("token", TOKENS),
        ("quota", QUOTAS),
        ("SCRAM", CREDENTIALS),
        ("described", DESCRIBED),
    )
    for name, step in steps.items()
)
"""All steps, with the theme before each name."""
