"""`kwire configs`: describe, change and list configuration, as kafka-configs does.

Quotas and SCRAM credentials, for which kafka-configs is, too, have commands of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, Table, hidden_text, text_columns
from kwire.cli.watching import WATCH, ask_and_show

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.configs import ConfigEntry
    from kwire.admin.outcomes import Outcomes
    from kwire.messages.config_resource import ConfigResource

app = command_group("Describe and change configuration of topics, nodes and groups.")

TYPE = argument(metavar="TYPE", help="topic, broker, broker-logger, client-metrics or group.")
ELEMENTS = argument(metavar="KEY=VALUE...", help="Several elements: KEY=a,b.")
DRY_RUN = flag("--dry-run", help="Have the node check it, and change nothing.")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_CONFIGS)
def describe_configs(
    cluster: ClusterOptions,
    output: Output,
    type: str = TYPE,
    names: list[str] = argument(
        default=[],
        metavar="[NAME]...",
        help="Topics, node ids, groups; `default` for all brokers. Without it all of the type.",
    ),
    every_value: bool = flag("--all", help="Also the values that nobody set."),
    key: list[str] = repeated("--key", metavar="KEY", help="Only this key. Repeatable."),
    synonyms: bool = flag("--synonyms", help="The values in every place, strongest first."),
    docs: bool = flag("--docs", help="Kafka's own words for each key."),
    watch: float | None = WATCH,
) -> None:
    """Describe the values in force, and the place each comes from.

    A topic's own value has the source DYNAMIC_TOPIC_CONFIG; without one the brokers' holds.
    A node never tells a sensitive value: it is shown as (hidden), and `-` is a key without a value.

    \b
    kwire configs describe topic orders --bootstrap-server localhost:9092
    kwire configs describe broker 3000 --all --bootstrap-controller localhost:9093
    """
    from kwire.cli.admin.config_resources import (
        every_resource,
        resource_type,
        resource_values,
        resources_named,
    )

    kind = resource_type(type)
    named = [resource for name in names for resource in resources_named(kind, name)]

    async def describe(admin: AdminClient) -> Outcomes[ConfigResource, Mapping[str, ConfigEntry]]:
        resources = named or await every_resource(admin, kind)
        return await admin.describe_configs(
            resources, names=key or None, synonyms=synonyms, documentation=docs
        )

    def rows(
        resource: ConfigResource, entries: Mapping[str, ConfigEntry]
    ) -> Iterator[dict[str, Any]]:
        for _, entry in sorted(entries.items()):
            if every_value or key or not entry.is_default:
                yield {**resource_values(resource), **_entry_values(entry)}
        for name in sorted({*key} - entries.keys()):
            yield {**resource_values(resource), "name": name, **_unknown_key(resource)}

    def show(outcomes: Outcomes[ConfigResource, Mapping[str, ConfigEntry]]) -> None:
        columns = _entry_columns(synonyms=synonyms, docs=docs)
        table = Table.of_outcomes("configs", columns, outcomes, rows, key_values=resource_values)
        output.show(table, empty="nobody set a value; --all shows the defaults")

    ask_and_show(cluster, output, describe, show, watch)


def _entry_columns(*, synonyms: bool, docs: bool) -> list[Column]:
    return [
        Column(key="resourceType", wide=True),
        *text_columns("resource", "name"),
        Column(key="value", instead=hidden_text),
        Column(key="source"),
        *text_columns("isSensitive", "isReadOnly", "type", wide=True),
        Column(key="synonyms", wide=not synonyms, text=_synonyms_text),
        Column(key="documentation", wide=not docs),
    ]


def _entry_values(entry: ConfigEntry) -> dict[str, Any]:
    from kwire.messages.config_resource import ConfigType, source_name

    types = {type.value: type.name for type in ConfigType}
    return {
        "name": entry.name,
        "value": entry.value,
        "source": source_name(entry.source),
        "isSensitive": entry.is_sensitive,
        "isReadOnly": entry.is_read_only,
        "type": types.get(entry.type, str(entry.type)),
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": source_name(synonym.source)}
            for synonym in entry.synonyms
        ],
        "documentation": entry.documentation,
    }


def _unknown_key(resource: ConfigResource) -> dict[str, Any]:
    """Return the error of a key that was asked for by name, and is not in the answer."""
    from kwire.messages.config_resource import ResourceType

    # Of these a node tells only what is set.
    if resource.type in (ResourceType.CLIENT_METRICS, ResourceType.GROUP) or not resource.name:
        return {"message": "not set"}
    return {"error": "INVALID_CONFIG", "message": "the node knows no such key"}


def _synonyms_text(synonyms: list[dict[str, Any]] | None) -> str:
    from kwire.text.untrusted import harmless

    texts = (f"{each['source']}:{each['name']}={each['value'] or ''}" for each in synonyms or [])
    return harmless(", ".join(texts)) or "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigTarget:
    """The arguments that name what is configured."""

    type: str = TYPE
    name: str = argument(
        metavar="NAME",
        help="A broker or controller by its id; `default` for all brokers. Several: 1,2.",
    )


@app.command("set")
@asks_cluster(registry.INCREMENTAL_ALTER_CONFIGS)
def set_configs(
    cluster: ClusterOptions,
    output: Output,
    *,
    target: ConfigTarget,
    settings: list[str] = argument(
        default=[], metavar="[KEY=VALUE]...", help="A value may be empty."
    ),
    add_config_file: Path | None = option(
        metavar="FILE", help="Properties to set: the way for secret values."
    ),
    dry_run: bool = DRY_RUN,
) -> None:
    """Set keys: all of one resource, or none of them.

    \b
    kwire configs set topic orders retention.ms=86400000 --bootstrap-server localhost:9092
    kwire configs set broker default log.cleaner.threads=2 --bootstrap-controller localhost:9093
    """
    pairs = _pairs(settings)
    if add_config_file is not None:
        pairs = {**_file_pairs(add_config_file), **pairs}
    if not pairs:
        raise WrongUsage("give KEY=VALUE, or --add-config-file.")
    _alter(cluster, output, target, "SET", pairs, dry_run)


@app.command("unset")
@asks_cluster(registry.INCREMENTAL_ALTER_CONFIGS)
def unset_configs(
    cluster: ClusterOptions,
    output: Output,
    *,
    target: ConfigTarget,
    keys: list[str] = argument(metavar="KEY...", help="Keys to delete."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Delete keys: the brokers' value or the default holds again.

    \b
    kwire configs unset topic orders retention.ms --bootstrap-server localhost:9092
    """
    for key in keys:
        if "=" in key:
            raise WrongUsage(f"{key!r}: to delete a key, write the key alone.")
    _alter(cluster, output, target, "DELETE", dict.fromkeys(keys), dry_run)


@app.command("append")
@asks_cluster(registry.INCREMENTAL_ALTER_CONFIGS)
def append_configs(
    cluster: ClusterOptions,
    output: Output,
    *,
    target: ConfigTarget,
    elements: list[str] = ELEMENTS,
    dry_run: bool = DRY_RUN,
) -> None:
    """Add elements to keys that are lists. An element that is there is not added twice.

    \b
    kwire configs append topic orders cleanup.policy=compact --bootstrap-server localhost:9092
    """
    _alter(cluster, output, target, "APPEND", _pairs(elements), dry_run)


@app.command("subtract")
@asks_cluster(registry.INCREMENTAL_ALTER_CONFIGS)
def subtract_configs(
    cluster: ClusterOptions,
    output: Output,
    *,
    target: ConfigTarget,
    elements: list[str] = ELEMENTS,
    dry_run: bool = DRY_RUN,
) -> None:
    """Take elements out of keys that are lists.

    \b
    kwire configs subtract topic orders cleanup.policy=compact --bootstrap-server localhost:9092
    """
    _alter(cluster, output, target, "SUBTRACT", _pairs(elements), dry_run)


@app.command("list")
@asks_cluster(registry.LIST_CONFIG_RESOURCES)
def list_config_resources(
    cluster: ClusterOptions,
    output: Output,
    type: list[str] = repeated("--type", metavar="TYPE", help="List only this type. Repeatable."),
) -> None:
    """List the resources that have a configuration.

    Groups and client metrics are listed once a key of them is set.

    \b
    kwire configs list --type client-metrics --bootstrap-server localhost:9092
    """
    from kwire.cli.admin.config_resources import resource_type, resource_values

    types = [resource_type(word) for word in type]
    listed = cluster.run(lambda admin: admin.list_config_resources(types))
    columns = text_columns("resource", "resourceType")
    output.show(Table("resources", columns, map(resource_values, sorted(listed))), empty="nothing")


def _pairs(texts: list[str]) -> dict[str, str | None]:
    from kwire.text.properties import is_password

    pairs: dict[str, str | None] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise WrongUsage(f"{text!r} has no value: write KEY=VALUE.")
        if key in pairs:
            raise WrongUsage(f"{key} comes twice.")
        if value and is_password(key):
            raise WrongUsage(
                f"{key} is secret, and every user of this machine sees arguments: write it to a"
                " file, and give --add-config-file FILE."
            )
        pairs[key] = value
    return pairs


def _file_pairs(path: Path) -> dict[str, str]:
    from kwire.text.properties import read_properties

    return dict(read_properties(path))


def _alter(
    cluster: ClusterOptions,
    output: Output,
    target: ConfigTarget,
    operation: str,
    pairs: Mapping[str, str | None],
    dry_run: bool,
) -> None:
    from kwire.admin.configs import AlterConfigOperation, ConfigChange
    from kwire.cli.admin.config_changes import alter
    from kwire.cli.admin.config_resources import resource_type, resources_named

    kind = AlterConfigOperation[operation]
    changes = [ConfigChange(name=key, operation=kind, value=value) for key, value in pairs.items()]
    resources = resources_named(resource_type(target.type), target.name)
    output.show(alter(cluster, resources, changes, dry_run=dry_run))
