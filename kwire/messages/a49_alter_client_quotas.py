"""AlterClientQuotas, API key 49."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, float64, int16, int32, nullable, string


class EntityData(Group):
    entity_type: str = string
    entity_name: str | None = nullable(string)


class OpData(Group):
    key: str = string
    value: float = float64
    remove: bool = boolean


class EntryData(Group):
    entity: list[EntityData] = array(EntityData)
    ops: list[OpData] = array(OpData)


class AlterClientQuotasRequest(
    Request, key=49, versions="0-1", flexible="1+", listeners="broker controller"
):
    """An admin sets or lifts the quotas of users, client ids and addresses (KIP-546)."""

    entries: list[EntryData] = array(EntryData)
    validate_only: bool = boolean


class ResponseEntryData(Group):
    error_code: int = int16
    error_message: str | None = nullable(string)
    entity: list[EntityData] = array(EntityData)


class AlterClientQuotasResponse(Response, key=49, versions="0-1", flexible="1+"):
    """The controller says for each entity whether its quotas changed (KIP-546)."""

    throttle_time_ms: int = int32
    entries: list[ResponseEntryData] = array(ResponseEntryData)
