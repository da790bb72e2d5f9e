"""Client quotas of users, client ids and addresses: Describe- and AlterClientQuotas (KIP-546).

KIP-919 lists both for controllers; controllers change quotas, and do not offer to describe them:
those are read from the metadata log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import KeyedChanges, Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.errors import InvalidValue, KwireError
from kwire.messages import a48_describe_client_quotas as described
from kwire.messages import a49_alter_client_quotas as altered

if TYPE_CHECKING:
    from kwire.image import MetadataImage

USER = "user"
CLIENT_ID = "client-id"
IP = "ip"

DEFAULT = "<default>"
"""The word for the default of a type in text (Java: ConfigEntityName)."""


@dataclass(frozen=True, slots=True)
class QuotaEntity:
    """A user, a client id, both together, or an address; text as `user=alice, client-id=<default>`.

    parts: type and name; a name of None is the default of its type. Types that kwire does not know
    are kept.
    """

    parts: frozenset[tuple[str, str | None]]

    @classmethod
    def of(cls, **names: str | None) -> QuotaEntity:
        """Return the entity of `user`, `client_id` and `ip`; None for the default of a type."""
        if not names or not {*names} <= {"user", "client_id", "ip"}:
            raise InvalidValue("a quota is for a user, a client_id or an ip")
        return cls(frozenset((type.replace("_", "-"), name) for type, name in names.items()))

    @property
    def ordered(self) -> list[tuple[str, str | None]]:
        """The parts, the user first."""
        return sorted(self.parts, key=lambda part: (part[0] != USER, part[0]))

    def __str__(self) -> str:
        parts = (f"{type}={DEFAULT if name is None else name}" for type, name in self.ordered)
        return ", ".join(parts)


class QuotaMatch(IntEnum):
    """The ways in which a filter names an entity (Java: ClientQuotaFilterComponent)."""

    EXACT = 0
    DEFAULT = 1
    ANY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaFilterComponent:
    """One condition of a filter. name: for EXACT only."""

    entity_type: str
    match: QuotaMatch
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaFilter:
    """A question for quotas, by default for all.

    strict: leave out entities that have other types besides those of the components.
    """

    components: tuple[QuotaFilterComponent, ...] = ()
    strict: bool = False

    @classmethod
    def of(cls, entity: QuotaEntity, *, strict: bool = True) -> QuotaFilter:
        """Return the filter for one entity, and if it is strict for no other."""
        components = tuple(
            QuotaFilterComponent(
                entity_type=type,
                match=QuotaMatch.DEFAULT if name is None else QuotaMatch.EXACT,
                name=name,
            )
            for type, name in entity.ordered
        )
        return cls(components=components, strict=strict)


EVERY_QUOTA = QuotaFilter()

Quotas = Mapping[str, float]
"""Values by key, as `producer_byte_rate`."""

QuotaChanges = KeyedChanges[QuotaEntity, Mapping[str, float | None]]
"""The values to set, by entity and key; None removes a key."""


def _request(asked: QuotaFilter) -> described.DescribeClientQuotasRequest:
    return described.DescribeClientQuotasRequest(
        components=[
            described.ComponentData(
                entity_type=component.entity_type, match_type=component.match, match=component.name
            )
            for component in asked.components
        ],
        strict=asked.strict,
    )


def _described(
    response: described.DescribeClientQuotasResponse,
) -> Iterator[tuple[None, dict[QuotaEntity, Quotas]]]:
    raise_for_code(response.error_code, response.error_message)
    yield (
        None,
        {
            _entity(entry.entity): {value.key: value.value for value in entry.values}
            for entry in response.entries or []
        },
    )


def _observed(
    image: MetadataImage, keys: tuple[None, ...], asked: QuotaFilter
) -> Iterator[tuple[None, dict[QuotaEntity, Quotas]]]:
    from kwire.image.answers.describe_client_quotas import answer

    return _described(answer(_request(asked), image))


def _entity(parts: Iterable[described.EntityData | altered.EntityData]) -> QuotaEntity:
    return QuotaEntity(frozenset((part.entity_type, part.entity_name) for part in parts))


def _alter(call: OperationCall[QuotaEntity, QuotaChanges]) -> altered.AlterClientQuotasRequest:
    return altered.AlterClientQuotasRequest(
        entries=[
            altered.EntryData(
                entity=[
                    altered.EntityData(entity_type=type, entity_name=name)
                    for type, name in entity.ordered
                ],
                ops=[
                    altered.OpData(key=key, value=value or 0.0, remove=value is None)
                    for key, value in call.arguments.by_key[entity].items()
                ],
            )
            for entity in call.keys
        ],
        validate_only=call.arguments.validate_only,
    )


def _altered(
    response: altered.AlterClientQuotasResponse, call: OperationCall[QuotaEntity, QuotaChanges]
) -> Iterator[tuple[QuotaEntity, KwireError | None]]:
    for entry in response.entries:
        yield _entity(entry.entity), refusal(entry.error_code, entry.error_message)


DESCRIBE_CLIENT_QUOTAS: Operation[None, QuotaFilter, dict[QuotaEntity, Quotas]] = Operation(
    row=registry.DESCRIBE_CLIENT_QUOTAS,
    build=lambda call: _request(call.arguments),
    parse=lambda response, call: _described(response),
    observe=_observed,
)
ALTER_CLIENT_QUOTAS: Operation[QuotaEntity, QuotaChanges, None] = Operation(
    row=registry.ALTER_CLIENT_QUOTAS, build=_alter, parse=_altered
)


async def describe_client_quotas(
    driver: Driver, quota_filter: QuotaFilter | None = None, *, timeout: float | None = None
) -> dict[QuotaEntity, Quotas]:
    """Return the quotas that a filter matches, by entity; by default all.

    Raises BrokerError INVALID_REQUEST (42) for components that do not go together,
    CLUSTER_AUTHORIZATION_FAILED (31).
    """
    return await driver.ask(
        DESCRIBE_CLIENT_QUOTAS, None, quota_filter or EVERY_QUOTA, timeout=timeout
    )


async def alter_client_quotas(
    driver: Driver,
    changes: Mapping[QuotaEntity, Mapping[str, float | None]],
    *,
    validate_only: bool = False,
    timeout: float | None = None,
) -> Outcomes[QuotaEntity, None]:
    """Set quotas, or remove those whose value is None; return the outcome of each entity.

    validate_only: have the controller check the changes, and make none.

    Refused: INVALID_REQUEST (42) for a key or a value that there is not, or an entity of types
    that do not go together; CLUSTER_AUTHORIZATION_FAILED (31).
    """
    arguments = KeyedChanges(by_key=changes, validate_only=validate_only)
    return await driver.run(ALTER_CLIENT_QUOTAS, changes, arguments, timeout=timeout)
