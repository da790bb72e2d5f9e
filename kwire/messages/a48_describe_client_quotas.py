"""DescribeClientQuotas, API key 48."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, float64, int8, int16, int32, nullable, string


class ComponentData(Group):
    entity_type: str = string
    match_type: int = int8
    match: str | None = nullable(string)


class DescribeClientQuotasRequest(
    Request, key=48, versions="0-1", flexible="1+", listeners="broker"
):
    """An admin looks up the quotas of users, client ids and addresses (KIP-546)."""

    components: list[ComponentData] = array(ComponentData)
    strict: bool = boolean


class EntityData(Group):
    entity_type: str = string
    entity_name: str | None = nullable(string)


class ValueData(Group):
    key: str = string
    value: float = float64


class EntryData(Group):
    entity: list[EntityData] = array(EntityData)
    values: list[ValueData] = array(ValueData)


class DescribeClientQuotasResponse(Response, key=48, versions="0-1", flexible="1+"):
    """A broker gives the quotas of each matching entity (KIP-546)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    error_message: str | None = nullable(string)
    entries: list[EntryData] | None = nullable(array(EntryData))
