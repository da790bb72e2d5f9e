"""DescribeClientQuotas (KIP-546; Java: ClientQuotasImage.describe)."""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.image.client_quotas import Entity
from kwire.messages.a48_describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

EXACT, DEFAULT, ANY = range(3)
"""The match types: a name, the default of the type, whatever there is of the type."""

USER, CLIENT_ID, IP = "user", "client-id", "ip"


def answer(
    request: DescribeClientQuotasRequest, image: MetadataImage
) -> DescribeClientQuotasResponse:
    """1. A component that makes no sense: INVALID_REQUEST; of another type: UNSUPPORTED_VERSION.
    2. Entities that match every component; with `strict` those that have no other part.
    """
    if refusal := _refusal(request.components):
        code, message = refusal
        return DescribeClientQuotasResponse(error_code=code, error_message=message, entries=None)
    quotas = image.client_quotas.entities
    return DescribeClientQuotasResponse(
        error_message=None,
        entries=[
            EntryData(
                entity=_entity(entity),
                values=[ValueData(key=key, value=value) for key, value in sorted(values.items())],
            )
            for entity, values in quotas.items()
            if _matches(entity, request)
        ],
    )


def _refusal(components: list[ComponentData]) -> tuple[int, str] | None:
    types = [one.entity_type for one in components]
    invalid = ErrorCode.INVALID_REQUEST
    for one in components:
        type = one.entity_type
        if types.count(type) > 1:
            return invalid, f"The entity type {type} is named more than once."
        if not type:
            return invalid, "An entity type is empty."
        if type not in (USER, CLIENT_ID, IP):
            return ErrorCode.UNSUPPORTED_VERSION, f"No entity is of type {type}."
        if one.match_type not in (EXACT, DEFAULT, ANY):
            return invalid, f"{one.match_type} is no match type."
        if (one.match is not None) is not (one.match_type == EXACT):
            return invalid, f"Match type {one.match_type} and match {one.match!r} do not fit."
    if IP in types and len(types) > 1:
        return invalid, "An ip is not to be combined with a user or a client-id."
    return None


def _matches(entity: Entity, request: DescribeClientQuotasRequest) -> bool:
    parts = dict(entity)
    if request.strict and len(parts) != len(request.components):
        return False
    return all(
        one.entity_type in parts and (one.match_type == ANY or parts[one.entity_type] == one.match)
        for one in request.components
    )


def _entity(entity: Entity) -> list[EntityData]:
    parts = sorted(entity, key=lambda part: part[0])
    return [EntityData(entity_type=type, entity_name=name) for type, name in parts]
