"""DescribeClientQuotas (KIP-546), which KIP-919 lists for controllers.

Kafka's controllers do not offer it; this one answers as a broker does.
"""

from __future__ import annotations

from kwire.controller.handlers.alter_client_quotas import CLIENT_ID, IP, USER
from kwire.controller.handlers.result import ControllerContext, ControllerResult
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.client_quotas import Entity, entity_order
from kwire.messages.a48_describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

EXACT, DEFAULT, ANY = range(3)
"""The ways in which a component names an entity (Java: DescribeClientQuotasRequest)."""


def handle(request: DescribeClientQuotasRequest, context: ControllerContext) -> ControllerResult:
    """List the quotas that a filter matches (Java: ClientQuotasImage.describe).

    1. The errors of `_check`.
    2. An entity matches if it has every type of the filter, with the name that is asked for; a
       strict filter's has no other types.
    """
    # 1.
    _check(request.components)
    # 2.
    entities = context.image.client_quotas.entities
    entries = [
        EntryData(
            entity=[EntityData(entity_type=type, entity_name=name) for type, name in parts],
            values=[ValueData(key=key, value=value) for key, value in entities[entity].items()],
        )
        for entity in sorted(entities, key=entity_order)
        if _matches(entity, request)
        for parts in [sorted(entity, key=lambda part: part[0])]
    ]
    return ControllerResult(response=DescribeClientQuotasResponse(entries=entries))


def _check(components: list[ComponentData]) -> None:
    """Raise INVALID_REQUEST, or UNSUPPORTED_VERSION for a type that quotas do not have.

    1. An empty type; a type twice; a type that is not known.
    2. A name that is missing, or that there must not be; a way of matching that is not known.
    3. An address together with a user or a client id.
    """
    types: set[str] = set()
    for component in components:
        # 1.
        type = component.entity_type
        if not type or type in types:
            raise _invalid("Every entity type of the filter needs a name, and comes once.")
        if type not in (USER, CLIENT_ID, IP):
            text = f"Client quotas have no entity type {type}."
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
        types.add(type)
        # 2.
        if component.match_type not in (EXACT, DEFAULT, ANY):
            raise _invalid(f"Match type {component.match_type} is not known.")
        if (component.match is None) is (component.match_type == EXACT):
            raise _invalid(f"A name goes with an exact match of {type} only.")
    # 3.
    if IP in types and len(types) > 1:
        raise _invalid("An ip has quotas of its own, not with a user or a client-id.")


def _matches(entity: Entity, request: DescribeClientQuotasRequest) -> bool:
    names = dict(entity)
    if request.strict and len(names) != len(request.components):
        return False
    return all(
        component.entity_type in names
        and (component.match_type == ANY or names[component.entity_type] == component.match)
        for component in request.components
    )


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
