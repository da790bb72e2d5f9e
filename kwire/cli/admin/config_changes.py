"""The changes of `kwire configs`: what each key was, and what it is after them.

Controllers compute lists as ConfigurationControlManager does: on the resource's own value, without
one on Kafka's default, never on a value that the file of a broker sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kwire.admin.client import AdminClient
from kwire.admin.configs import AlterConfigOperation, ConfigChange, ConfigEntry
from kwire.admin.outcomes import Outcomes
from kwire.cli.admin.config_resources import resource_values
from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.output import Column, Table, dry_run_facts, hidden_text, text_columns
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType

ConfigEntries = Mapping[str, ConfigEntry]

_OWN = {
    ResourceType.TOPIC: ConfigSource.TOPIC,
    ResourceType.BROKER: ConfigSource.DYNAMIC_BROKER,
    ResourceType.BROKER_LOGGER: ConfigSource.DYNAMIC_BROKER_LOGGER,
    ResourceType.CLIENT_METRICS: ConfigSource.CLIENT_METRICS,
    ResourceType.GROUP: ConfigSource.GROUP,
}

COLUMNS = [
    Column(key="resourceType", wide=True),
    *text_columns("resource", "name", "operation"),
    Column(key="before", instead=hidden_text),
    Column(key="after", instead=hidden_text),
    Column(key="isSensitive", wide=True),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredConfigs:
    """The outcome of changes, and the entries that their keys had before, where those are known."""

    before: Mapping[ConfigResource, ConfigEntries]
    outcomes: Outcomes[ConfigResource, None]


def alter(
    cluster: ClusterOptions,
    resources: Sequence[ConfigResource],
    changes: Sequence[ConfigChange],
    *,
    dry_run: bool,
) -> Table:
    """Make the same changes to each resource; return the table of what they did."""

    async def run(admin: AdminClient) -> AlteredConfigs:
        names = [change.name for change in changes]
        before = await admin.describe_configs(resources, names=names, synonyms=True)
        outcomes = await admin.incremental_alter_configs(
            dict.fromkeys(resources, changes), validate_only=dry_run
        )
        return AlteredConfigs(before=before, outcomes=outcomes)

    altered = cluster.run(run)

    def rows(resource: ConfigResource, _: None) -> Iterator[dict[str, Any]]:
        for change in changes:
            entry = altered.before.get(resource, {}).get(change.name)
            yield {**resource_values(resource), **change_values(resource, change, entry)}

    return Table.of_outcomes(
        "changes",
        COLUMNS,
        altered.outcomes,
        rows,
        key_values=resource_values,
        facts=dry_run_facts(dry_run),
    )


def change_values(
    resource: ConfigResource, change: ConfigChange, entry: ConfigEntry | None
) -> dict[str, Any]:
    """Return the values of a row; those of a sensitive key are not told."""
    hidden = _is_hidden(resource, change.name, entry)
    return {
        "name": change.name,
        "operation": change.operation.name,
        "before": None if hidden or entry is None else entry.value,
        "after": None if hidden else after(resource, change, entry),
        "isSensitive": hidden,
    }


def after(resource: ConfigResource, change: ConfigChange, entry: ConfigEntry | None) -> str | None:
    """Return the value in force after a change; None if there is none or it cannot be known."""
    if change.operation is AlterConfigOperation.SET:
        return change.value
    if entry is None:
        return None
    own = _own_source(resource)
    if change.operation is AlterConfigOperation.DELETE:
        others = (synonym.value for synonym in entry.synonyms if synonym.source != own)
        return next(others, None)
    by_source = {synonym.source: synonym.value for synonym in entry.synonyms}
    base = by_source.get(own, by_source.get(ConfigSource.DEFAULT)) or ""
    elements = [element for element in base.split(",") if element]
    changed = (change.value or "").split(",")
    if change.operation is AlterConfigOperation.APPEND:
        return ",".join(dict.fromkeys([*elements, *changed]))
    return ",".join(element for element in elements if element not in changed)


def _own_source(resource: ConfigResource) -> ConfigSource:
    if resource == (ResourceType.BROKER, ""):
        return ConfigSource.DYNAMIC_DEFAULT_BROKER
    return _OWN.get(ResourceType(resource.type), ConfigSource.UNKNOWN)


def _is_hidden(resource: ConfigResource, key: str, entry: ConfigEntry | None) -> bool:
    if entry is not None:
        return entry.is_sensitive
    from kwire.configs.hidden_values import is_hidden

    return is_hidden(resource, key)
