"""`kwire protocol`: the messages of Kafka's protocol, and what changed between its releases."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kwire.cli.lazy import command_group
from kwire.cli.options import argument, option, reads_options, repeated
from kwire.cli.output import Column, OutputOptions, Table, text_columns

if TYPE_CHECKING:
    from kwire.protocol import ConfigFact, ErrorFact, FeatureFact

app = command_group(
    "Show Kafka's messages, error codes, features and configurations, by release.",
    {"show": "kwire.cli.protocol.show:show", "diff": "kwire.cli.protocol.diff:diff"},
)

RELEASE_OPTION = option("--release", metavar="R", help="Only this release of Kafka, as 4.4.0.")

ERROR_COLUMNS = (Column(key="code", right=True), *text_columns("name", "retriable", "releases"))
FEATURE_COLUMNS = (
    Column(key="feature"),
    Column(key="level", right=True),
    Column(key="name"),
    Column(key="since", title="WithMetadataVersion"),
    Column(key="dependencies", title="Needs"),
    *text_columns("production", "releases"),
)
CONFIG_COLUMNS = (
    *text_columns("owner", "name", "type", "default", "importance"),
    *text_columns("required", "internal", wide=True),
    Column(key="releases"),
)


def held_in(releases: tuple[str, ...], release: str | None) -> bool:
    """True for a fact of the release; any fact without one. Raises UnknownRelease."""
    from kwire.protocol.release_facts import known_release

    return release is None or known_release(release) in releases


@app.command()
@reads_options
def errors(
    *,
    code: str | None = argument(
        default=None, metavar="[CODE|NAME]", help="A number, or a name with * in it."
    ),
    release: str | None = RELEASE_OPTION,
    printed: OutputOptions,
) -> None:
    """Show Kafka's error codes.

    \b
    kwire protocol errors 42
    kwire protocol errors '*VOTER*'
    """
    from kwire.protocol import facts

    def matches(fact: ErrorFact) -> bool:
        return code is None or code == str(fact.code) or fnmatchcase(fact.name, code.upper())

    rows = [
        {**_values(fact), "retriable": fact.retriable}
        for fact in facts().errors
        if matches(fact) and held_in(fact.releases, release)
    ]
    output = printed.output(both=True)
    output.show(Table("errors", ERROR_COLUMNS, rows, key="name"), empty="no such error")


@app.command()
@reads_options
def features(
    *,
    feature: str | None = argument(
        default=None, metavar="[FEATURE]", help="A name, with * for any letters."
    ),
    release: str | None = RELEASE_OPTION,
    printed: OutputOptions,
) -> None:
    """Show the levels of features (KIP-584), those of metadata.version with their names.

    A release offers levels that are not for production only if unstable.feature.versions.enable
    is true.

    \b
    kwire protocol features metadata.version --release 4.4.0
    """
    from kwire.protocol import facts

    def matches(fact: FeatureFact) -> bool:
        return feature is None or fnmatchcase(fact.feature, feature)

    rows = [
        {**_values(fact), "production": fact.production, "dependencies": fact.dependencies}
        for fact in facts().features
        if matches(fact) and held_in(fact.releases, release)
    ]
    output = printed.output(both=True)
    output.show(Table("features", FEATURE_COLUMNS, rows, key="feature"), empty="no such feature")


@app.command()
@reads_options
def configs(
    *,
    config: str | None = argument(
        default=None, metavar="[CONFIG]", help="A name, with * for any letters."
    ),
    owner: list[str] = repeated(
        "--of",
        metavar="OWNER",
        help="broker (controllers too), topic, group, client-metrics, producer, consumer or"
        " admin. Repeatable.",
    ),
    release: str | None = RELEASE_OPTION,
    printed: OutputOptions,
) -> None:
    """Show configurations with their types and defaults.

    A configuration has a line for each type or default that releases gave it.

    \b
    kwire protocol configs 'retention.*' --of topic
    kwire protocol configs --of broker --release 4.4.0 -o wide
    """
    from kwire.protocol import facts

    def matches(fact: ConfigFact) -> bool:
        named = config is None or fnmatchcase(fact.name, config)
        return named and (not owner or fact.owner in owner)

    rows = [
        {**_values(fact), "required": fact.required, "internal": fact.internal}
        for fact in facts().configs
        if matches(fact) and held_in(fact.releases, release)
    ]
    output = printed.output(both=True)
    table = Table("configs", CONFIG_COLUMNS, rows, key="name")
    output.show(table, empty="no such configuration")


@app.command()
def json() -> None:
    """Print everything as one JSON document, for programs in other languages.

    docs/reference/protocol.schema.json describes it.

    \b
    kwire protocol json | jq '.errors[] | select(.code == 42)'
    """
    from kwire.protocol.document import document_text

    sys.stdout.write(document_text())


def _values(fact: ErrorFact | FeatureFact | ConfigFact) -> dict[str, object]:
    import msgspec

    values: dict[str, object] = msgspec.to_builtins(fact)
    return values
