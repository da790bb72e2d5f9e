"""AlterClientQuotas (KIP-546; addresses: KIP-612)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isfinite

from kwire.controller.authorization.hosts import address_of
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.result import (
    ControllerContext,
    ControllerResult,
    VersionedRecords,
    versioned,
)
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.client_quotas import EMPTY
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
    ResponseEntryData,
)
from kwire.messages.records.client_quota import ClientQuotaRecord
from kwire.messages.records.client_quota import EntityData as RecordEntity

USER, CLIENT_ID, IP = "user", "client-id", "ip"

_LARGEST_INT, _LARGEST_LONG = 2.0**31 - 1, 2.0**63
_USER_KEYS: Mapping[str, float | None] = {
    "producer_byte_rate": _LARGEST_LONG,
    "consumer_byte_rate": _LARGEST_LONG,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_KEYS: Mapping[str, float | None] = {"connection_creation_rate": _LARGEST_INT}
"""Quotas with their largest value if they are whole numbers (Java: QuotaConfig)."""

_WHOLE = 1e-6
"""Kafka takes a number this near to a whole one for it."""

EntityParts = tuple[tuple[str, str | None], ...]


def handle(request: AlterClientQuotasRequest, context: ControllerContext) -> ControllerResult:
    """Set and remove quotas of users, client ids and addresses (Java:
    ClientQuotaControlManager.alterClientQuotas).

    For each entry, whose entity has the last of several names of one type:

    1. A key twice, or the entity of an earlier entry: INVALID_REQUEST; what the earlier entry
       changed stays changed, and the entity is answered once.
    2. The errors of `_keys` and `_check_value`, all INVALID_REQUEST.
    3. One record for each key that changes. To remove an absent key is no error, whatever its name.
    """
    errors: dict[EntityParts, str | None] = {}
    records: VersionedRecords = []
    for entry in request.entries:
        entity = tuple({part.entity_type: part.entity_name for part in entry.entity}.items())
        entity = tuple(sorted(entity, key=lambda part: part[0]))
        try:
            # 1.
            if entity in errors or max(Counter(op.key for op in entry.ops).values(), default=0) > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "An entity or a key occurs twice.")
            records += _changes(entity, entry, context)
        except ApiError as error:
            errors[entity] = error.message
        else:
            errors[entity] = None
        check_records(records)
    entries = [
        ResponseEntryData(
            error_code=0 if message is None else ErrorCode.INVALID_REQUEST,
            error_message=message,
            entity=[EntityData(entity_type=type, entity_name=name) for type, name in entity],
        )
        for entity, message in errors.items()
    ]
    return ControllerResult(
        records=() if request.validate_only else tuple(records),
        response=AlterClientQuotasResponse(entries=entries),
    )


def _changes(entity: EntityParts, entry: EntryData, context: ControllerContext) -> VersionedRecords:
    # 2.
    keys = _keys(dict(entity))
    current = context.image.client_quotas.entities.get(frozenset(entity), EMPTY)
    records = []
    for op in entry.ops:
        if not op.remove:
            _check_value(keys, op)
        # 3.
        is_change = op.key in current if op.remove else current.get(op.key) != op.value
        if is_change:
            record = ClientQuotaRecord(
                entity=[RecordEntity(entity_type=type, entity_name=name) for type, name in entity],
                key=op.key,
                value=0.0 if op.remove else op.value,
                remove=op.remove,
            )
            records.append(versioned(record))
    return records


def _keys(entity: Mapping[str, str | None]) -> Mapping[str, float | None]:
    """Return the quotas that an entity may have. Raises INVALID_REQUEST for an entity

    1. without parts, of an unknown type, or with an empty name;
    2. of an address with a user or a client id;
    3. of an address that is none.
    """
    # 1.
    if not entity:
        raise _invalid("A client quota's entity must not be empty.")
    for type, name in entity.items():
        if type not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Client quotas have no entity type {type}.")
        if name == "":
            raise _invalid(f"The name of a {type} must not be empty.")
    if IP not in entity:
        return _USER_KEYS
    # 2.
    if len(entity) > 1:
        raise _invalid("An ip has quotas of its own, not with a user or a client-id.")
    # 3. Java resolves the names of hosts, too; a handler has no network.
    name = entity[IP]
    if name is not None and address_of(name) is None:
        raise _invalid(f"{name} is not an IP address.")
    return _IP_KEYS


def _check_value(keys: Mapping[str, float | None], op: OpData) -> None:
    """Raise INVALID_REQUEST for a key that the entity has not, or a value

    1. that is 0 or below, not a number or, as by Kafka 4.4, infinite;
    2. above the largest of its type;
    3. with a fraction where it must be a whole number.
    """
    if op.key not in keys:
        raise _invalid(f"{op.key} is not a quota of this entity.")
    # 1.
    if not (isfinite(op.value) and op.value > 0):
        raise _invalid(f"Quota {op.key} must be greater than 0.")
    largest = keys[op.key]
    if largest is None:
        return
    # 2.
    if op.value > largest:
        raise _invalid(f"The value of {op.key} is too large.")
    # 3.
    if op.value % 1.0 > _WHOLE:
        raise _invalid(f"{op.key} must be a whole number.")


def _invalid(text: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, text)
