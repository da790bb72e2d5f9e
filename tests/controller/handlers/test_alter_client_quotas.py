"""AlterClientQuotas, after Kafka's ClientQuotaControlManagerTest."""

import math
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)
from tests.support.controller.handlers.client_quotas import quota_entry as entry
from tests.support.controller.live.session.entities import ADDRESSES, NO_ADDRESSES

INVALID = ErrorCode.INVALID_REQUEST
NAMES = ("localhost", "fe80::1%lo")
"""Names of a host and of an interface: their meaning depends on the machine."""


def codes(lab: Any, *entries: EntryData, validate_only: bool = False) -> list[int]:
    """Alter quotas; return the code for each entity."""
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [item.error_code for item in lab.ask(request).entries]


def quotas(lab: Any, **entity: str | None) -> dict[str, float]:
    """Return the quotas of an entity; _ stands for a hyphen."""
    parts = frozenset((type.replace("_", "-"), name) for type, name in entity.items())
    return dict(lab.image.client_quotas.entities.get(parts, {}))


def test_quotas_are_set_changed_and_removed(lab: Any) -> None:
    alice = {"user": "alice"}
    assert codes(lab, entry(alice, ("producer_byte_rate", 5), ("request_percentage", 0.5))) == [0]
    assert quotas(lab, user="alice") == {"producer_byte_rate": 5, "request_percentage": 0.5}
    before = lab.end_offset
    assert codes(lab, entry(alice, ("producer_byte_rate", 5))) == [0]
    assert lab.end_offset == before
    change = entry(alice, ("producer_byte_rate", None), ("request_percentage", None))
    assert codes(lab, change) == [0]
    assert quotas(lab, user="alice") == {}
    before = lab.end_offset
    assert codes(lab, entry(alice, ("producer_byte_rate", None), ("nonsense", None))) == [0]
    assert lab.end_offset == before


def test_entities_have_the_order_of_kafkas_records(lab: Any) -> None:
    assert codes(lab, entry({"user": None, "client-id": "c"}, ("consumer_byte_rate", 7))) == [0]
    parts = [(part.entity_type, part.entity_name) for part in lab.log[-1].record.entity]
    assert parts == [("client-id", "c"), ("user", None)]


def test_nothing_is_written_that_is_only_validated(lab: Any) -> None:
    before = lab.end_offset
    change = entry({"user": "a"}, ("producer_byte_rate", 1))
    assert codes(lab, change, validate_only=True) == [0]
    assert lab.end_offset == before


@pytest.mark.parametrize(
    ("entity", "key", "value", "code"),
    [
        ({}, "producer_byte_rate", 1, INVALID),
        ({"": "a"}, "producer_byte_rate", 1, INVALID),
        ({"group": "a"}, "producer_byte_rate", 1, INVALID),
        ({"user": ""}, "producer_byte_rate", 1, INVALID),
        ({"user": "a", "client-id": ""}, "producer_byte_rate", 1, INVALID),
        ({"user": "a", "ip": "1.2.3.4"}, "producer_byte_rate", 1, INVALID),
        ({"client-id": "a", "ip": "1.2.3.4"}, "connection_creation_rate", 1, INVALID),
        ({"user": "a"}, "connection_creation_rate", 1, INVALID),
        ({"ip": "1.2.3.4"}, "producer_byte_rate", 1, INVALID),
        ({"ip": "1.2.3.4"}, "connection_creation_rate", 1, 0),
        ({"ip": None}, "connection_creation_rate", 1, 0),
        ({"ip": "::1"}, "connection_creation_rate", 1, 0),
        ({"ip": "not an address"}, "connection_creation_rate", 1, INVALID),
        ({"ip": "::1"}, "connection_creation_rate", 2.0**31, INVALID),
        ({"ip": "::1"}, "connection_creation_rate", 2.0**31 - 1, 0),
        ({"user": "a"}, "producer_byte_rate", 0, INVALID),
        ({"user": "a"}, "producer_byte_rate", -1, INVALID),
        ({"user": "a"}, "producer_byte_rate", 1.5, INVALID),
        ({"user": "a"}, "producer_byte_rate", 1 + 1e-7, 0),
        ({"user": "a"}, "producer_byte_rate", 2.0**63, 0),
        ({"user": "a"}, "producer_byte_rate", 1e19, INVALID),
        ({"user": "a"}, "producer_byte_rate", math.inf, INVALID),
        ({"user": "a"}, "producer_byte_rate", math.nan, INVALID),
        ({"user": "a"}, "request_percentage", math.nan, INVALID),
        ({"user": "a"}, "request_percentage", math.inf, INVALID),
        ({"user": "a"}, "request_percentage", 1e300, 0),
        ({"user": "a"}, "controller_mutation_rate", 0.001, 0),
        ({"user": "a"}, "nonsense", 1, INVALID),
    ],
)
def test_entities_and_values(
    lab: Any, entity: dict[str, str | None], key: str, value: float, code: int
) -> None:
    before = lab.end_offset
    # A value of 0 is none that is absent.
    change = entry(entity)
    change.ops = [OpData(key=key, value=value, remove=False)]
    assert codes(lab, change) == [code]
    assert lab.end_offset == before + (code == 0)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        *((address, 0) for address in ADDRESSES),
        *((text, INVALID) for text in (*NO_ADDRESSES, *NAMES, "::1%" + "1" * 9999)),
    ],
)
def test_an_address_is_what_java_takes_for_one(lab: Any, address: str, code: int) -> None:
    """As judged by Kafka 4.3.1 and 4.4.0; but names depend on the machine (decision 63)."""
    change = entry({"ip": address}, ("connection_creation_rate", 9))
    assert codes(lab, change) == [code]


def test_the_second_entry_of_an_entity_is_refused_and_the_first_one_stays(lab: Any) -> None:
    first = entry({"user": "a"}, ("producer_byte_rate", 1))
    second = entry({"user": "a"}, ("producer_byte_rate", 2))
    assert codes(lab, first, second) == [INVALID]
    assert quotas(lab, user="a") == {"producer_byte_rate": 1}


def test_a_key_that_occurs_twice_changes_nothing(lab: Any) -> None:
    twice = entry({"user": "a"}, ("producer_byte_rate", 1), ("producer_byte_rate", 2))
    other = entry({"user": "b"}, ("producer_byte_rate", 3))
    assert codes(lab, twice, other) == [INVALID, 0]
    assert quotas(lab, user="a") == {}
    assert quotas(lab, user="b") == {"producer_byte_rate": 3}
