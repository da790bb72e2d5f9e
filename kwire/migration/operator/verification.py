"""The whole of `kwire migration verify`: chooses what to compare, and reports it (KIP-866)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kwire.doctor.finding import Finding
from kwire.errors import KwireError
from kwire.image.features import ZkMigrationState
from kwire.migration.operator.comparison import EntryDifference
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.findings import preflight, status, verify
from kwire.migration.operator.preflight import preflight_findings
from kwire.migration.operator.report import comparison_findings, unwritten_findings
from kwire.migration.operator.sides import MigrationSides
from kwire.migration.operator.sight import unseen_kind
from kwire.migration.operator.stage import MigrationStage
from kwire.migration.operator.status import status_of
from kwire.migration.operator.verify import SideComparer
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.metadata_reader import ReadProgress, no_progress
from kwire.zookeeper.password_encoder import PasswordEncoder

STATUS_TOO = frozenset(
    kind.id
    for kind in (
        status.NO_CONTROLLERS,
        status.NO_LOG,
        status.OTHER_CLUSTER,
        status.BEGAN_AS_KRAFT,
        status.LOST,
        status.UNNOTED,
        status.CONTROLLER_TAKEN,
        status.BEHIND,
    )
)
"""The findings of the state that matter for a comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result. is_compared: both sides were. offset: of the log; None if it was not compared."""

    findings: tuple[Finding, ...]
    is_compared: bool = False
    offset: int | None = None
    entries: int = 0
    looks: int = 0
    differences: Sequence[EntryDifference] = ()
    moving: Sequence[str] = ()
    seconds: float = 0.0


async def verify_sides(
    sides: MigrationSides,
    *,
    encoder: PasswordEncoder | None = None,
    progress: ReadProgress = no_progress,
) -> Verification:
    """Verify what the stage of the migration allows.

    1. Without a copy, ZooKeeper alone, for what would stop one.
    2. In dual write, both sides.
    3. After the end, or without a migration, nothing; nor if there may be a copy whose log is not
       seen, or one of which /migration does not know.

    Raises KwireError if ZooKeeper cannot be read.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    facts = await sides.facts(with_assigned=False)
    if facts.zookeeper is None and not isinstance(sides.failure, InvalidZnode):
        raise sides.failure or KwireError("ZooKeeper was not asked for")
    reader = ZooKeeperReader(await sides.zookeeper(), encoder=encoder, progress=progress)
    if facts.state == ZkMigrationState.MIGRATION and facts.lag is not None:
        result = await _compared(sides, facts, reader)
    elif facts.state in (ZkMigrationState.POST_MIGRATION, ZkMigrationState.NONE):
        result = _nothing(facts)
    elif facts.state is None and facts.migration is not None and _may_have_log(facts):
        result = _not_compared(facts, facts.migration.kraft_metadata_offset)
    elif status_of(facts).stage in (MigrationStage.LOST, MigrationStage.UNNOTED):
        result = Verification(findings=tuple(_of_status(facts)))
    else:
        result = await _before(facts, reader, with_secret=encoder is not None)
    return replace(result, seconds=clock() - began)


async def _compared(
    sides: MigrationSides, facts: MigrationFacts, reader: ZooKeeperReader
) -> Verification:
    assert sides.kraft is not None, "its state is known"
    comparer = SideComparer(await sides.zookeeper(), reader, sides.kraft)
    comparison = await comparer.compare()
    stands_still = (
        facts.is_behind
        and facts.migration == comparison.position
        and await comparer.stands_still(comparison.position)
    )
    unwritten = comparison.unwritten_in(sides.kraft.image) if stands_still else ()
    return Verification(
        findings=(
            *_of_status(facts),
            *comparison_findings(comparison),
            *unwritten_findings(unwritten),
        ),
        is_compared=True,
        offset=comparison.offset,
        entries=comparison.reading.count,
        looks=comparison.looks,
        differences=comparison.differences,
        moving=comparison.moving,
    )


def _nothing(facts: MigrationFacts) -> Verification:
    found = _of_status(facts)
    if facts.state == ZkMigrationState.NONE:
        finding = verify.NO_MIGRATION("the controllers began as KRaft")
    else:
        finding = verify.FINALISED(
            "the migration is finalised: ZooKeeper is as it was then, and not compared"
        )
    return Verification(findings=(*found, finding))


def _may_have_log(facts: MigrationFacts) -> bool:
    """Return True if there may be controllers that have the copy of which /migration tells.

    Not if nobody names any, and a broker is the controller: such a /migration is in the way of the
    next migration, as `before/foreign-migration` says.
    """
    controller = facts.zookeeper.controller if facts.zookeeper else None
    is_of_a_broker = controller is not None and not controller.is_kraft
    return facts.is_copied and (facts.has_asked_kraft or not is_of_a_broker)


def _not_compared(facts: MigrationFacts, offset: int) -> Verification:
    sentence = f"/migration has a copy, up to record {offset}, and the metadata log was not read"
    return Verification(findings=(*_of_status(facts), preflight.COPY_NOT_COMPARED(sentence)))


async def _before(
    facts: MigrationFacts, reader: ZooKeeperReader, *, with_secret: bool
) -> Verification:
    reading = await reader.read()
    found = _of_status(facts)
    if facts.zookeeper is None:
        found.append(unseen_kind(facts.zookeeper_failure)(facts.no_zookeeper))
    found += preflight_findings(
        facts.zookeeper, reading, with_secret=with_secret, has_log=facts.state is not None
    )
    return Verification(findings=tuple(found), entries=reading.count, looks=1)


def _of_status(facts: MigrationFacts) -> list[Finding]:
    return [finding for finding in status_of(facts).findings if finding.id in STATUS_TOO]
