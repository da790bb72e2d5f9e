"""The state of a migration: facts of both sides, and what follows from them (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kwire.doctor.finding import Finding, fix
from kwire.doctor.unanswered import DENIED, remedy
from kwire.migration.operator.driver_view import DriverView, driver_view
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.findings import preflight, status
from kwire.migration.operator.preflight import left_over_sentence
from kwire.migration.operator.readiness import (
    ENABLE,
    BrokerMode,
    BrokerReadiness,
    ControllerReadiness,
    brokers,
    controllers,
)
from kwire.migration.operator.sight import unseen_kind, zookeeper_advice
from kwire.migration.operator.stage import MigrationStage, stage_of, stage_sentence
from kwire.migration.operator.way_back import WayBack, way_back
from kwire.text.phrases import count, examples, listed

STATUS = "kwire migration status"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationStatus:
    """Everything that `kwire migration status` tells."""

    facts: MigrationFacts
    stage: MigrationStage
    sentence: str
    driver: DriverView
    controllers: tuple[ControllerReadiness, ...]
    brokers: tuple[BrokerReadiness, ...]
    way_back: WayBack
    findings: tuple[Finding, ...]

    @property
    def lag(self) -> int | None:
        """The records that are not in ZooKeeper yet; None if not in dual write."""
        return self.facts.lag


def status_of(facts: MigrationFacts) -> MigrationStatus:
    """Return what follows from the facts."""
    voters, nodes = controllers(facts), brokers(facts)
    stage = stage_of(facts, nodes)
    driver = driver_view(facts, voters, nodes)
    return MigrationStatus(
        facts=facts,
        stage=stage,
        sentence=stage_sentence(stage, facts, nodes),
        driver=driver,
        controllers=voters,
        brokers=nodes,
        way_back=way_back(
            stage,
            facts,
            nodes,
        ),
        findings=tuple(_findings(facts, stage, driver, voters, nodes)),
    )


def _findings(
    facts: MigrationFacts,
    stage: MigrationStage,
    driver: DriverView,
    voters: tuple[ControllerReadiness, ...],
    nodes: tuple[BrokerReadiness, ...],
) -> Iterator[Finding]:
    if facts.no_zookeeper:
        failure = facts.zookeeper_failure
        advice = zookeeper_advice(failure)
        yield unseen_kind(failure)(facts.no_zookeeper, advice=advice)
    if facts.no_kraft:
        kind = status.NO_CONTROLLERS
        mend = remedy(facts.no_kraft, "the controllers")
        yield kind(facts.no_kraft, fixes=[fix(mend, STATUS), fix(kind.advice)])
    elif facts.kraft is not None and facts.kraft.image is None:
        yield _no_log(facts.kraft.no_image)
    zookeeper, kraft = facts.zookeeper, facts.kraft
    ids = {side.cluster_id for side in (zookeeper, kraft) if side and side.cluster_id}
    if zookeeper and kraft and len(ids) > 1:
        yield status.OTHER_CLUSTER(
            f"ZooKeeper belongs to cluster {zookeeper.cluster_id}, the controllers to"
            f" {kraft.cluster_id}"
        )
    if facts.is_kraft_beside_zookeeper:
        yield status.BEGAN_AS_KRAFT(
            "the controllers began as KRaft, and ZooKeeper has a cluster that lives"
        )
    if stage is MigrationStage.LEFT_OVER:
        assert facts.migration is not None, "it is left over"
        yield preflight.FOREIGN_MIGRATION(left_over_sentence(facts.migration, has_log=True))
    if stage is MigrationStage.LOST:
        yield status.LOST(driver.reason)
    if stage is MigrationStage.UNNOTED:
        yield status.UNNOTED(driver.reason)
    if stage in (MigrationStage.HYBRID, MigrationStage.KRAFT_BROKERS):
        yield from _dual_write(facts, driver)
        yield from _without_setting(voters)
    if stage is MigrationStage.PREPARED and facts.state is not None:
        # A fenced one is registered, which is what the driver looks at.
        awaited = [node.node_id for node in nodes if node.mode is not BrokerMode.ZOOKEEPER]
        if awaited:
            noun = "broker" if len(awaited) == 1 else "brokers"
            yield status.BROKER_NOT_READY(f"the migration waits for {noun} {listed(awaited)}")
    if stage is MigrationStage.FINALISED:
        for broker in nodes:
            if broker.is_ready is False and broker.mode is BrokerMode.ZOOKEEPER:
                yield status.FINALISED_TOO_EARLY(f"broker {broker.node_id}: {broker.reason}")


def _no_log(reason: str) -> Finding:
    if DENIED in reason:
        mend = "allow this principal CLUSTER_ACTION on the cluster: kwire acls add"
    elif "leads" in reason:
        mend = "kwire quorum check"
    else:
        mend = remedy(reason, "the leader")
    return status.NO_LOG(f"the metadata log was not read: {reason}", fixes=[fix(mend, STATUS)])


def _dual_write(facts: MigrationFacts, driver: DriverView) -> Iterator[Finding]:
    zookeeper = facts.zookeeper
    if zookeeper is None or facts.lag is None:
        return
    assert facts.kraft is not None, "it has a lag"
    if facts.kraft.leader_id < 0:
        yield status.NO_LEADER("no controller leads: nothing is written to ZooKeeper")
        return
    if driver.state == "DUAL_WRITE":
        return
    if zookeeper.controller is not None and not zookeeper.controller.is_kraft:
        yield status.CONTROLLER_TAKEN(
            f"/controller is {zookeeper.controller}, though the migration is under way"
        )
    else:
        yield status.BEHIND(f"ZooKeeper is {facts.lag} records behind: {driver.reason}")
    if topics := facts.unwritten_topics:
        text = f"going back now would lose {count(len(topics), 'topic')} that ZooKeeper has not got"
        yield status.TOPICS_UNWRITTEN(text, *examples(topics))


def _without_setting(voters: tuple[ControllerReadiness, ...]) -> Iterator[Finding]:
    # Below 3.7-IV0 controllers do not register.
    tags = {
        voter.node_id: voter.tag if voter.registered is None else voter.registered
        for voter in voters
    }
    ids = [node_id for node_id, has_setting in tags.items() if has_setting is False]
    if ids:
        noun, verb = ("controller", "runs") if len(ids) == 1 else ("controllers", "run")
        setting = f"{noun} {listed(ids)} {verb} without {ENABLE}"
        yield status.FINALISES(f"{setting}: the migration is finalised as soon as one leads")
