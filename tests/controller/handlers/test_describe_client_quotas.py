"""DescribeClientQuotas, after Kafka's ClientQuotasImage.

Brokers judge it in tests/controller/live/test_descriptions.py.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a48_describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.access_control import AclOperation
from tests.support.controller.handlers.acl_requests import ALICE, allow, guarded, on_cluster
from tests.support.controller.handlers.client_quotas import quota_entry

EXACT, DEFAULT, ANY = range(3)
ENTITIES: tuple[Mapping[str, str | None], ...] = (
    {"user": "alice"},
    {"user": None},
    {"user": "alice", "client-id": "app"},
    {"client-id": "app"},
)


@pytest.fixture
def filled(lab: Any) -> Any:
    """A lab with a quota of each entity."""
    entries = [quota_entry(entity, ("producer_byte_rate", 7)) for entity in ENTITIES]
    lab.ask(AlterClientQuotasRequest(entries=entries))
    return lab


def component(type: str, match: int, name: str | None = None) -> ComponentData:
    return ComponentData(entity_type=type, match_type=match, match=name)


def entities(lab: Any, *parts: ComponentData, strict: bool = False) -> list[dict[str, str | None]]:
    """Return the entities that a filter matches."""
    response = lab.ask(DescribeClientQuotasRequest(components=list(parts), strict=strict))
    assert response.error_code == 0
    assert {(v.key, v.value) for entry in response.entries for v in entry.values} <= {
        ("producer_byte_rate", 7.0)
    }
    return [
        {part.entity_type: part.entity_name for part in entry.entity} for entry in response.entries
    ]


@pytest.mark.parametrize(
    ("parts", "strict", "found"),
    [
        ((), False, (0, 1, 2, 3)),
        ((), True, ()),
        ((component("user", EXACT, "alice"),), False, (0, 2)),
        ((component("user", EXACT, "alice"),), True, (0,)),
        ((component("user", DEFAULT),), False, (1,)),
        ((component("user", ANY),), False, (0, 1, 2)),
        ((component("client-id", ANY), component("user", ANY)), True, (2,)),
        ((component("ip", ANY),), False, ()),
    ],
)
def test_a_filter_matches_by_types_and_names(
    filled: Any, parts: tuple[ComponentData, ...], strict: bool, found: tuple[int, ...]
) -> None:
    matched = entities(filled, *parts, strict=strict)
    assert len(matched) == len(found)
    assert all(ENTITIES[i] in matched for i in found)


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ((component("", ANY),), ErrorCode.INVALID_REQUEST),
        ((component("user", ANY), component("user", ANY)), ErrorCode.INVALID_REQUEST),
        ((component("group", ANY),), ErrorCode.UNSUPPORTED_VERSION),
        ((component("user", EXACT),), ErrorCode.INVALID_REQUEST),
        ((component("user", DEFAULT, "alice"),), ErrorCode.INVALID_REQUEST),
        ((component("user", ANY, "alice"),), ErrorCode.INVALID_REQUEST),
        ((component("user", 3),), ErrorCode.INVALID_REQUEST),
        ((component("ip", ANY), component("user", ANY)), ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_as_a_whole(
    filled: Any, parts: tuple[ComponentData, ...], code: int
) -> None:
    response = filled.ask(DescribeClientQuotasRequest(components=list(parts)))
    assert (response.error_code, response.entries) == (code, None)
    assert response.error_message


def test_it_needs_describe_configs_on_the_cluster() -> None:
    lab = guarded()
    request = DescribeClientQuotasRequest()
    refused = lab.ask(request, principal=ALICE).error_code
    assert refused == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    allow(lab, on_cluster(AclOperation.DESCRIBE))
    assert lab.ask(request, principal=ALICE).error_code == refused
    allow(lab, on_cluster(AclOperation.DESCRIBE_CONFIGS))
    assert lab.ask(request, principal=ALICE).error_code == 0
