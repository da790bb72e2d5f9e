"""DescribeClientQuotas (KIP-546; Java: ClientQuotasImage.describe)."""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.image.client_quotas import Entity, entity_order
from kwire.image.metadata import MetadataImage
from kwire.messages.a48_describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

EXACT, DEFAULT, ANY = range(3)
"""The match types: a name, the default of an entity type, any entity of a type."""

USER, CLIENT_ID, IP = "user", "client-id", "ip"


def answer(
    request: DescribeClientQuotasRequest, image: MetadataImage
) -> DescribeClientQuotasResponse:
    """Answer from the quotas of an image.

    1. A component that makes no sense: INVALID_REQUEST. An unknown entity type:
       UNSUPPORTED_VERSION.
    2. Entities that match every component; if `strict`, only those that have no other part.
    """
    # 1.
    if refusal := _refusal(request.components):
        code, message = refusal
        return DescribeClientQuotasResponse(error_code=code, error_message=message, entries=None)
    # 2.
    quotas = image.client_quotas.entities
    return DescribeClientQuotasResponse(
        error_message=None,
        entries=[
            EntryData(
                entity=_entity(entity),
                values=[ValueData(key=key, value=value) for key, value in sorted(values.items())],
            )
            for entity, values in sorted(quotas.items(), key=lambda item: entity_order(item[0]))
            if _matches(entity, request)
        ],
    )


def _refusal(components: list[ComponentData]) -> tuple[int, str] | None:
    types = [component.entity_type for component in components]
    invalid = ErrorCode.INVALID_REQUEST
    for component in components:
        type = component.entity_type
        if types.count(type) > 1:
            return invalid, f"The entity type {type} is named more than once."
        if not type:
            return invalid, "An entity type is empty."
        if type not in (USER, CLIENT_ID, IP):
            return ErrorCode.UNSUPPORTED_VERSION, f"No entity is of type {type}."
        if component.match_type not in (EXACT, DEFAULT, ANY):
            return invalid, f"{component.match_type} is no match type."
        if (component.match is not None) is not (component.match_type == EXACT):
            text = f"Match type {component.match_type} and match {component.match!r} do not fit."
            return invalid, text
    if IP in types and len(types) > 1:
        return invalid, "An ip is not to be combined with a user or a client-id."
    return None


def _matches(entity: Entity, request: DescribeClientQuotasRequest) -> bool:
    parts = dict(entity)
    if request.strict and len(parts) != len(request.components):
        return False
    return all(
        component.entity_type in parts
        and (component.match_type == ANY or parts[component.entity_type] == component.match)
        for component in request.components
    )


def _entity(entity: Entity) -> list[EntityData]:
    parts = sorted(entity, key=lambda part: part[0])
    return [EntityData(entity_type=type, entity_name=name) for type, name in parts]
