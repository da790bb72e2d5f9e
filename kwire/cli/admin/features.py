"""`kwire features`: feature levels, supported and finalized, in kafka-features' words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.feature_levels import (
    FeatureLevels,
    feature_level,
    level_text,
    release_levels,
    required_levels,
)
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, reads_options, repeated
from kwire.cli.output import Column, Output, OutputForm, Table, dry_run_facts, number_columns

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.features import FeatureMetadata, UpgradeType
    from kwire.admin.outcomes import Outcomes

app = command_group("Describe feature levels and change them (KIP-584, KIP-1022).")

LEVELS_HELP = "As in group.version=1 or metadata.version=4.3-IV0."
LEVELS = argument(default=[], metavar="[FEATURE=LEVEL]...", help=LEVELS_HELP)
LEVEL_FLAGS = repeated(
    "--feature", metavar="FEATURE=LEVEL", help="The same, as kafka-features has it."
)
DRY_RUN = flag("--dry-run", help="Have the controller check it, and change nothing.")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_FEATURES)
def describe_features(
    cluster: ClusterOptions,
    output: Output,
    node: int | None = option(
        "--node", "--node-id", metavar="ID", help="By default any that answers."
    ),
) -> None:
    """Show supported and finalized levels of features. The finalized ones are in force.

    A broker's epoch is the offset of the last metadata record that it knows, a controller's that of
    the last change of a feature: compare it only with earlier answers of the same node.

    \b
    kwire features describe --bootstrap-controller localhost:9093
    """

    async def describe(admin: AdminClient) -> FeatureMetadata:
        if node is None:
            return await admin.describe_first_features()
        return await admin.describe_features(node_id=node)

    features = cluster.run(describe)
    output.show(Table("features", FEATURE_COLUMNS, _feature_rows(features)), empty="no features")


FEATURE_COLUMNS = [
    Column(key="feature"),
    *number_columns("supportedMinVersion", "supportedMaxVersion", "finalizedVersionLevel", "epoch"),
    *number_columns("supportedMinLevel", "supportedMaxLevel", "finalizedLevel", wide=True),
]
"""The names of Kafka's tool have the texts that it prints; the levels are numbers."""


def _feature_rows(features: FeatureMetadata) -> list[dict[str, Any]]:
    rows = []
    # A finalized feature that this node does not support is worth a row: it is in trouble.
    for name in sorted({*features.supported_features, *features.finalized_features}):
        supported = features.supported_features.get(name)
        finalized = features.finalized_features.get(name)
        lowest = supported.min_version if supported else None
        highest = supported.max_version if supported else None
        level = finalized.max_version if finalized else 0
        rows.append(
            {
                "feature": name,
                "supportedMinVersion": level_text(name, lowest),
                "supportedMaxVersion": level_text(name, highest),
                "finalizedVersionLevel": level_text(name, level),
                "epoch": features.finalized_features_epoch,
                "supportedMinLevel": lowest,
                "supportedMaxLevel": highest,
                "finalizedLevel": level,
            }
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOptions:
    """The options that say which features get which levels."""

    levels: list[str] = LEVELS
    feature: list[str] = LEVEL_FLAGS
    metadata: str | None = option(
        metavar="VERSION", help="The level of metadata.version, as 4.3-IV0."
    )
    release_version: str | None = option(
        metavar="VERSION", help="Every feature as in a new cluster of this release, as 4.3."
    )

    def target_levels(self) -> FeatureLevels:
        """Return the level of each feature. Raises WrongUsage."""
        texts = [*self.levels, *self.feature]
        if self.release_version is not None:
            if texts or self.metadata is not None:
                raise WrongUsage("--release-version says all levels: give no other.")
            return release_levels(self.release_version)
        pairs = [feature_level(text) for text in texts]
        if self.metadata is not None:
            pairs.append(feature_level(f"metadata.version={self.metadata}"))
        return _unique(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringOptions:
    """The options of a change to lower levels."""

    unsafe: bool = flag("--unsafe", help="Allow it even if metadata is lost by it. Asks.")
    dry_run: bool = DRY_RUN
    yes: bool = YES


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfflineOutput:
    """The options of the form of what no cluster is asked for."""

    output: OutputForm = option(
        "--output", "-o", default=OutputForm.TABLE, help="The form of output."
    )
    as_json: bool = flag("--json", help="Print JSON, as -o json does.")

    def show(self, columns: list[Column], rows: list[dict[str, Any]]) -> None:
        """Print a table of features."""
        output = Output(OutputForm.JSON if self.as_json else self.output)
        output.show(Table("features", columns, rows))


@app.command("upgrade")
@asks_cluster(registry.UPDATE_FEATURES)
def upgrade_features(
    cluster: ClusterOptions, output: Output, *, levels: LevelOptions, dry_run: bool = DRY_RUN
) -> None:
    """Raise features to these levels, all of them or none.

    Many levels cannot be lowered again: try it with --dry-run first.

    \b
    kwire features upgrade group.version=1 --dry-run --bootstrap-controller localhost:9093
    kwire features upgrade --release-version 4.3 --bootstrap-controller localhost:9093
    """
    from kwire.admin.features import UpgradeType

    target_levels = levels.target_levels()
    if levels.release_version is not None:
        # A feature that the release does not have yet is not lowered by an upgrade.
        target_levels = {name: level for name, level in target_levels.items() if level > 0}
    _update(cluster, output, target_levels, UpgradeType.UPGRADE, dry_run)


@app.command("downgrade")
@asks_cluster(registry.UPDATE_FEATURES)
def downgrade_features(
    cluster: ClusterOptions, output: Output, *, levels: LevelOptions, lowering: LoweringOptions
) -> None:
    """Lower features to these levels. Refused where metadata is lost, unless --unsafe.

    \b
    kwire features downgrade share.version=0 --bootstrap-controller localhost:9093
    """
    _lower(cluster, output, levels.target_levels(), lowering)


@app.command("disable")
@asks_cluster(registry.UPDATE_FEATURES)
def disable_features(
    cluster: ClusterOptions,
    output: Output,
    *,
    names: list[str] = argument(default=[], metavar="[FEATURE]...", help="As group.version."),
    feature: list[str] = repeated(
        "--feature", metavar="FEATURE", help="The same, as kafka-features has it."
    ),
    lowering: LoweringOptions,
) -> None:
    """Lower features to level 0.

    \b
    kwire features disable share.version --bootstrap-controller localhost:9093
    """
    features = [*names, *feature]
    if not features:
        raise WrongUsage("name a feature, as in group.version.")
    _lower(cluster, output, _unique([(name, 0) for name in features]), lowering)


def _unique(pairs: list[tuple[str, int]]) -> FeatureLevels:
    levels = dict(pairs)
    if len(levels) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongUsage(f"{twice} is given more than once.")
    if not levels:
        raise WrongUsage("name a feature, as in group.version=1, or give --release-version.")
    return levels


def _lower(
    cluster: ClusterOptions, output: Output, target_levels: FeatureLevels, lowering: LoweringOptions
) -> None:
    from kwire.admin.features import UpgradeType

    if lowering.unsafe and not lowering.dry_run:
        named = ", ".join(
            f"{name} to {level_text(name, level)}" for name, level in target_levels.items()
        )
        confirm(f"Lower {named}, even if metadata is lost for good?", yes=lowering.yes)
    kind = UpgradeType.UNSAFE_DOWNGRADE if lowering.unsafe else UpgradeType.SAFE_DOWNGRADE
    _update(cluster, output, target_levels, kind, lowering.dry_run)


def _update(
    cluster: ClusterOptions,
    output: Output,
    target_levels: FeatureLevels,
    upgrade_type: UpgradeType,
    dry_run: bool,
) -> None:
    """Send the update and show each feature's level before and after it."""
    from kwire.admin.features import FeatureUpdate
    from kwire.messages.metadata_versions import KRAFT_VERSION

    updates = {
        name: FeatureUpdate(level=level, upgrade_type=upgrade_type)
        for name, level in target_levels.items()
    }

    async def update(admin: AdminClient) -> tuple[FeatureMetadata, Outcomes[str, None]]:
        before = await admin.describe_features()
        if target_levels.get(KRAFT_VERSION):
            await _refuse_to_stay_static(admin, before)
        return before, await admin.update_features(updates, validate_only=dry_run)

    before, outcomes = cluster.run(update)

    def levels(name: str) -> dict[str, Any]:
        finalized = before.finalized_features.get(name)
        level = finalized.max_version if finalized else 0
        return {
            "feature": name,
            "from": level_text(name, level),
            "to": level_text(name, target_levels[name]),
            "fromLevel": level,
            "toLevel": target_levels[name],
        }

    output.show(
        Table.of_outcomes(
            "features",
            CHANGE_COLUMNS,
            outcomes,
            lambda name, _: levels(name),
            key_values=levels,
            facts=dry_run_facts(dry_run),
        )
    )


async def _refuse_to_stay_static(admin: AdminClient, features: FeatureMetadata) -> None:
    """Raise CommandFailed if kraft.version would be raised and the voters would stay as they are.

    Kafka 3.9 and 4.0 report success and leave static voters static (KAFKA-18979).
    """
    from kwire.doctor.supported_features import upgrades_static_voters

    if upgrades_static_voters(features.supported_features):
        return
    quorum = await admin.describe_metadata_quorum()
    if all(voter.replica_directory_id is None for voter in quorum.voters):
        raise CommandFailed(
            "the voters are static, and these controllers would raise kraft.version and leave them"
            " static (KAFKA-18979): kwire quorum upgrade --plan names the steps, Kafka 4.1 first;"
            " raise other features by their names. Nothing was changed."
        )


CHANGE_COLUMNS = [
    Column(key="feature"),
    *number_columns("from", "to"),
    *number_columns("fromLevel", "toLevel", wide=True),
]


@app.command("version-mapping")
@reads_options
def version_mapping(
    *,
    release_version: str | None = option(
        metavar="VERSION", help="As 4.3 or 4.3-IV0; by default the latest stable."
    ),
    output: _OfflineOutput,
) -> None:
    """Show the feature levels of a release's new cluster.

    \b
    kwire features version-mapping --release-version 4.3
    """
    rows = [
        {"feature": name, "level": level, "version": level_text(name, level)}
        for name, level in release_levels(release_version).items()
    ]
    columns = [Column(key="feature"), Column(key="level", right=True), Column(key="version")]
    output.show(columns, rows)


@app.command("feature-dependencies")
@reads_options
def feature_dependencies(
    *, levels: list[str] = LEVELS, feature: list[str] = LEVEL_FLAGS, output: _OfflineOutput
) -> None:
    """Show the levels of other features that a level needs. Asks no cluster.

    \b
    kwire features feature-dependencies eligible.leader.replicas.version=1
    """
    rows = []
    for name, level in _unique([feature_level(text) for text in (*levels, *feature)]).items():
        required = required_levels(name, level)
        rows.append({"feature": name, "level": level, "requires": required})
    columns = [Column(key="feature"), Column(key="level", right=True), Column(key="requires")]
    output.show(columns, rows)
