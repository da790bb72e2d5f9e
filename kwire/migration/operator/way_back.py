"""The way back to ZooKeeper from each stage of a migration, step by step.

Kafka's documentation, "Reverting to ZooKeeper mode during the Migration"; tried on 3.9.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.readiness import BrokerMode, BrokerReadiness
from kwire.migration.operator.stage import MigrationStage
from kwire.text.phrases import listed

SHELL = "bin/zookeeper-shell.sh"

NO_CONNECT = "HOST:2181/CHROOT"
"""In place of zookeeper.connect, if nobody gave it."""

FLAGS = "zookeeper.metadata.migration.enable and controller.quorum.voters"


_LOG_UNSEEN = (
    "not known: the metadata log was not read. If a way back was begun, and the migration was never"
    " finalised, go on with it"
)
_ZOOKEEPER_UNSEEN = (
    "not known: ZooKeeper was not read. It may lack what was changed last, which would be lost; see"
    " that it can be read, and ask again"
)
_CLAIMED_WITHOUT_A_COPY = (
    "yes, at once: controllers of Kafka 3.9 delete from ZooKeeper what their log has not, and"
    " nothing was copied"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBackStep:
    """One step. command: empty for what is done by the operator's own means."""

    sentence: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """The way back. exists: None if it is not needed or not known. sentence: in short."""

    exists: bool | None
    sentence: str
    steps: tuple[WayBackStep, ...] = ()


_WITHOUT_STEPS = {
    MigrationStage.UNKNOWN: WayBack(
        exists=None, sentence="not known: it depends on the metadata log"
    ),
    MigrationStage.ZOOKEEPER: WayBack(
        exists=None, sentence="not needed: the cluster is in ZooKeeper mode"
    ),
    MigrationStage.KRAFT: WayBack(
        exists=False, sentence="none: ZooKeeper is not up to date any more"
    ),
    MigrationStage.FINALISED: WayBack(
        exists=False, sentence="none: ZooKeeper is not up to date any more"
    ),
    MigrationStage.LOST: WayBack(
        exists=None,
        sentence="not known: ZooKeeper has no trace of this migration; do not delete"
        " anything before you know if this is the right ZooKeeper",
    ),
}
"""The stages in which there is nothing to do."""


def way_back(
    stage: MigrationStage, facts: MigrationFacts, brokers: Sequence[BrokerReadiness]
) -> WayBack:
    """Return the way back from a stage.

    1. KRaft brokers return to migration mode, in which they still need the KRaft controller.
    2. The controllers end, and /controller is deleted at once: in between nobody is controller.
    3. The brokers lose what ties them to the controllers.
    """
    if stage is MigrationStage.KRAFT and facts.is_kraft_beside_zookeeper:
        return WayBack(exists=None, sentence="not needed: nothing was copied from ZooKeeper")
    begun_perhaps = stage is MigrationStage.UNKNOWN and facts.is_claimed
    if stage in _WITHOUT_STEPS and not begun_perhaps:
        return _WITHOUT_STEPS[stage]
    exists, sentence = _judgement(stage, facts)
    return WayBack(exists=exists, sentence=sentence, steps=(*_steps(stage, facts, brokers),))


def _judgement(stage: MigrationStage, facts: MigrationFacts) -> tuple[bool | None, str]:
    """Return if there is a way back, and why, for the stages that have steps."""
    match stage:
        case MigrationStage.UNKNOWN:
            return None, _LOG_UNSEEN
        case MigrationStage.RETURNING:
            return True, "yes: go on with it"
        case MigrationStage.LEFT_OVER if facts.is_claimed:
            return True, _CLAIMED_WITHOUT_A_COPY
        case MigrationStage.LEFT_OVER | MigrationStage.PREPARED:
            return True, "yes: nothing was copied yet"
        case MigrationStage.UNNOTED:
            return True, "yes; what was changed since the copy is not in ZooKeeper, and lost then"
        case _ if facts.zookeeper is None:
            return None, _ZOOKEEPER_UNSEEN
        case _:
            return True, _until_finalised((facts.lag or 0) * facts.is_behind)


def _steps(
    stage: MigrationStage, facts: MigrationFacts, brokers: Sequence[BrokerReadiness]
) -> Iterator[WayBackStep]:
    shell = f"{SHELL} {facts.connect or NO_CONNECT}"
    # 1.
    yield from _from_kraft(brokers)
    # 2.
    yield WayBackStep(sentence="stop all controllers")
    is_of_a_broker = stage in (MigrationStage.PREPARED, MigrationStage.RETURNING)
    if not is_of_a_broker and (stage is not MigrationStage.LEFT_OVER or facts.is_claimed):
        yield WayBackStep(
            sentence="at once delete /controller, so that a broker becomes controller: until then"
            " nobody is",
            command=f"{shell} delete /controller",
        )
    yield WayBackStep(sentence="note what /migration says", command=f"{shell} get /migration")
    yield WayBackStep(
        sentence="delete /migration, so that a later migration begins anew",
        command=f"{shell} delete /migration",
    )
    # 3.
    if stage is MigrationStage.RETURNING:
        yield from _in_zookeeper_mode(facts)
    # Without a log it is not known which have the settings: after a copy all do.
    is_log_seen = stage not in (MigrationStage.UNKNOWN, MigrationStage.RETURNING)
    yield from _restart(brokers) if is_log_seen else _restart_all(brokers)


def _until_finalised(behind: int) -> str:
    if not behind:
        return "yes, until it is finalised"
    records = "the last record" if behind == 1 else f"the last {behind} records"
    return (
        f"yes, but not now: ZooKeeper has not got {records}, and what they changed would be lost;"
        " wait until it has caught up"
    )


def _from_kraft(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    ids = [broker.node_id for broker in brokers if broker.mode is BrokerMode.KRAFT]
    if ids:
        yield WayBackStep(
            sentence=f"restart {_restarted(ids)} in migration mode: broker.id,"
            " zookeeper.connect and zookeeper.metadata.migration.enable=true, no process.roles"
        )


def _in_zookeeper_mode(facts: MigrationFacts) -> Iterator[WayBackStep]:
    # Brokers that had been KRaft brokers cannot claim /controller.
    if facts.zookeeper is not None and facts.zookeeper.controller is None:
        yield WayBackStep(
            sentence="see that every broker is in ZooKeeper mode: broker.id and zookeeper.connect,"
            " no process.roles; nobody is controller until one starts so"
        )


def _restart(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    registered = (BrokerMode.ZOOKEEPER, BrokerMode.KRAFT)
    if ids := [broker.node_id for broker in brokers if broker.mode in registered]:
        yield WayBackStep(sentence=f"restart {_restarted(ids)} without {FLAGS}")
    else:
        # None is registered: none is known to have them, and one that has them cannot start.
        yield WayBackStep(sentence=f"restart a broker without {FLAGS}, if it has them")
    yield _format_anew()


def _restart_all(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    if ids := [broker.node_id for broker in brokers]:
        yield WayBackStep(sentence=f"restart {_restarted(ids)} without {FLAGS}")
    yield _format_anew()


def _format_anew() -> WayBackStep:
    return WayBackStep(
        sentence="before another migration delete the controllers' log directories, and format them"
        " anew"
    )


def _restarted(ids: Sequence[int]) -> str:
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {listed(ids)} one by one"
