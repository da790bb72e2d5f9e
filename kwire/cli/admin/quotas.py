"""`kwire quotas`: list, set and unset quotas of users, client ids and addresses (KIP-546).

Kafka's tool for them is kafka-configs, whose options these are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option
from kwire.cli.output import Column, Output, Table, dry_run_facts
from kwire.cli.watching import WATCH, ask_and_show
from kwire.text.json_numbers import json_number

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.quotas import QuotaEntity, Quotas

app = command_group("List, set and unset quotas of users, client ids and addresses.")

DRY_RUN = flag("--dry-run", help="Have the controller check it, and change nothing.")

_EXACT = 2.0**53
"""From here on a double stands for several whole numbers, and its digits would be made up."""

ENTITY = Column(key="entity", text=lambda parts: _entity_text(parts))
KEY = Column(key="key")
BEFORE = Column(key="before", right=True)
AFTER = Column(key="after", right=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaOptions:
    """The options that name whom quotas are for."""

    user: str | None = option("--user", metavar="NAME", help="A user.")
    user_defaults: bool = flag("--user-defaults", help="Users without quotas of their own.")
    client: str | None = option("--client", metavar="ID", help="A client id, also one of a user.")
    client_defaults: bool = flag(
        "--client-defaults", help="Client ids without quotas of their own."
    )
    ip: str | None = option("--ip", metavar="IP", help="An address.")
    ip_defaults: bool = flag("--ip-defaults", help="Addresses without quotas of their own.")

    def names(self) -> dict[str, str | None]:
        """Return the names by type, None for a default. Raises WrongUsage."""
        names: dict[str, str | None] = {}
        for type, noun, name, is_default in (
            ("user", "user", self.user, self.user_defaults),
            ("client_id", "client", self.client, self.client_defaults),
            ("ip", "ip", self.ip, self.ip_defaults),
        ):
            if name is not None and is_default:
                raise WrongUsage(f"give --{noun} or --{noun}-defaults, not both.")
            if name == "":
                raise WrongUsage(f"--{noun} is empty: give --{noun}-defaults for the defaults.")
            if name is not None or is_default:
                names[type] = name
        if "ip" in names and len(names) > 1:
            raise WrongUsage("a quota is for an address alone, or for a user and a client id.")
        return names


@app.command("list")
@asks_cluster(registry.DESCRIBE_CLIENT_QUOTAS)
def describe_client_quotas(
    cluster: ClusterOptions,
    output: Output,
    *,
    subject: QuotaOptions,
    strict: bool = flag("--strict", help="Of --user alice not those of alice with a client id."),
    watch: float | None = WATCH,
) -> None:
    """List quotas, by default all.

    \b
    kwire quotas list --user alice --bootstrap-server localhost:9092
    """
    from kwire.admin.quotas import EVERY_QUOTA, QuotaFilter

    names = subject.names()
    if strict and not names:
        raise WrongUsage("--strict needs --user, --client or --ip.")
    quota_filter = QuotaFilter.of(_entity(names), strict=strict) if names else EVERY_QUOTA

    def show(quotas: dict[QuotaEntity, Quotas]) -> None:
        rows = [
            {"entity": entity_values(entity), "key": key, "value": _number(value)}
            for entity, values in sorted(quotas.items(), key=lambda pair: str(pair[0]))
            for key, value in sorted(values.items())
        ]
        columns = [ENTITY, KEY, Column(key="value", right=True)]
        output.show(Table("quotas", columns, rows), empty="no quotas")

    ask_and_show(
        cluster,
        output,
        lambda admin: admin.describe_client_quotas(quota_filter),
        show,
        watch,
    )


@app.command("set")
@asks_cluster(registry.ALTER_CLIENT_QUOTAS)
def set_client_quotas(
    cluster: ClusterOptions,
    output: Output,
    *,
    quotas: list[str] = argument(
        metavar="KEY=NUMBER...",
        help="producer_byte_rate, consumer_byte_rate, request_percentage,"
        " controller_mutation_rate; of addresses connection_creation_rate.",
    ),
    subject: QuotaOptions,
    dry_run: bool = DRY_RUN,
) -> None:
    """Set quotas of a user, a client id, both together, or an address.

    \b
    kwire quotas set --user alice producer_byte_rate=1048576 --bootstrap-server localhost:9092
    """
    _alter(cluster, output, subject.names(), _values(quotas), dry_run)


@app.command("unset")
@asks_cluster(registry.ALTER_CLIENT_QUOTAS)
def unset_client_quotas(
    cluster: ClusterOptions,
    output: Output,
    *,
    keys: list[str] = argument(metavar="KEY...", help="Quotas to remove."),
    subject: QuotaOptions,
    dry_run: bool = DRY_RUN,
) -> None:
    """Remove quotas, so that the defaults hold again.

    \b
    kwire quotas unset --user alice producer_byte_rate --bootstrap-server localhost:9092
    """
    _alter(cluster, output, subject.names(), dict.fromkeys(keys), dry_run)


def _alter(
    cluster: ClusterOptions,
    output: Output,
    names: dict[str, str | None],
    values: Mapping[str, float | None],
    dry_run: bool,
) -> None:

    if not names:
        raise WrongUsage("give --user, --client or --ip, or one of the defaults.")
    entity = _entity(names)

    async def alter(admin: AdminClient) -> tuple[Quotas | None, Outcomes[QuotaEntity, None]]:
        before = await _before(admin, entity)
        return before, await admin.alter_client_quotas({entity: values}, validate_only=dry_run)

    before, outcomes = cluster.run(alter)

    def rows(_: QuotaEntity, __: None) -> Iterator[dict[str, Any]]:
        for key, value in values.items():
            was = None if before is None else before.get(key)
            yield {
                "entity": entity_values(entity),
                "key": key,
                "before": _number(was),
                "after": _number(value),
            }

    table = Table.of_outcomes(
        "quotas",
        [ENTITY, KEY, BEFORE, AFTER],
        outcomes,
        rows,
        key_values=lambda entity: {"entity": entity_values(entity)},
        facts=dry_run_facts(dry_run),
    )
    output.show(table)


async def _before(admin: AdminClient, entity: QuotaEntity) -> Quotas | None:
    """Return the quotas of an entity; None if the user may not see them."""
    from kwire.admin.quotas import QuotaFilter
    from kwire.errors import BrokerError

    try:
        found = await admin.describe_client_quotas(QuotaFilter.of(entity))
    except BrokerError:
        return None
    return found.get(entity, {})


def _entity(names: dict[str, str | None]) -> QuotaEntity:
    from kwire.admin.quotas import QuotaEntity

    return QuotaEntity.of(**names)


def entity_values(entity: QuotaEntity) -> list[dict[str, str | None]]:
    """Return an entity as JSON: types with names, null for the default."""
    return [{"type": type, "name": name} for type, name in entity.ordered]


def _entity_text(parts: list[dict[str, str | None]] | None) -> str:
    from kwire.admin.quotas import DEFAULT
    from kwire.text.untrusted import harmless

    texts = (
        f"{part['type']}={DEFAULT if part['name'] is None else part['name']}"
        for part in parts or []
    )
    return harmless(", ".join(texts))


def _values(texts: list[str]) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for text in texts:
        key, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not key or not math.isfinite(value):
            raise WrongUsage(f"{text!r} is no quota: write KEY=NUMBER.")
        if key in values:
            raise WrongUsage(f"{key} comes twice.")
        values[key] = value
    return values


def _number(value: float | None) -> float | int | str | None:
    """Return whole numbers as such: 1048576, not 1048576.0; what JSON has no number for as text."""
    if value is None:
        return None
    return int(value) if value.is_integer() and abs(value) < _EXACT else json_number(value)
