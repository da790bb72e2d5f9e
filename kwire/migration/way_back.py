"""The way back to ZooKeeper from each stage of a migration, step by step.

Kafka's documentation, "Reverting to ZooKeeper mode during the Migration"; tried on 3.9.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kwire.doctor.evidence import listed
from kwire.migration.facts import MigrationFacts
from kwire.migration.readiness import BrokerMode, BrokerReadiness
from kwire.migration.stage import MigrationStage

SHELL = "bin/zookeeper-shell.sh"

NO_CONNECT = "HOST:2181/CHROOT"
"""In place of zookeeper.connect, if nobody gave it."""

FLAGS = "zookeeper.metadata.migration.enable and controller.quorum.voters"


_UNSEEN = (
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


def way_back(
    stage: MigrationStage, facts: MigrationFacts, brokers: Sequence[BrokerReadiness]
) -> WayBack:
    """Return the way back from a stage.

    1. KRaft brokers return to migration mode, in which they still need the KRaft controller.
    2. The controllers end, and /controller is deleted at once: in between nobody is controller.
    3. The brokers lose what ties them to the controllers.
    """
    shell = f"{SHELL} {facts.connect or NO_CONNECT}"
    match stage:
        case MigrationStage.UNKNOWN if facts.is_claimed:
            steps = (_stop(), _delete_controller(shell), *_delete_migration(shell))
            steps += (*_restart_all(brokers),)
            return WayBack(exists=None, sentence=_UNSEEN, steps=steps)
        case MigrationStage.UNKNOWN:
            return WayBack(exists=None, sentence="not known: it depends on the metadata log")
        case MigrationStage.ZOOKEEPER:
            return WayBack(exists=None, sentence="not needed: the cluster is in ZooKeeper mode")
        case MigrationStage.KRAFT if facts.is_kraft_beside_zookeeper:
            return WayBack(exists=None, sentence="not needed: nothing was copied from ZooKeeper")
        case MigrationStage.KRAFT | MigrationStage.FINALISED:
            return WayBack(exists=False, sentence="none: ZooKeeper is not up to date any more")
        case MigrationStage.LOST:
            return WayBack(
                exists=None,
                sentence="not known: ZooKeeper has no trace of this migration; do not delete"
                " anything before you know if this is the right ZooKeeper",
            )
        case MigrationStage.RETURNING:
            steps = (_stop(), *_delete_migration(shell), *_in_zookeeper_mode(facts))
            steps += (*_restart_all(brokers),)
            return WayBack(exists=True, sentence="yes: go on with it", steps=steps)
        case MigrationStage.LEFT_OVER if facts.is_claimed:
            steps = (_stop(), _delete_controller(shell), *_delete_migration(shell))
            steps += (*_restart(brokers),)
            return WayBack(exists=True, sentence=_CLAIMED_WITHOUT_A_COPY, steps=steps)
        case MigrationStage.LEFT_OVER:
            steps = (_stop(), *_delete_migration(shell), *_restart(brokers))
            return WayBack(exists=True, sentence="yes: nothing was copied yet", steps=steps)
        case MigrationStage.PREPARED:
            steps = (_stop(), *_delete_migration(shell), *_restart(brokers))
            return WayBack(exists=True, sentence="yes: nothing was copied yet", steps=steps)
        case _:
            steps = (*_from_kraft(brokers), _stop(), _delete_controller(shell))
            steps += (*_delete_migration(shell), *_restart(brokers))
            if facts.zookeeper is None:
                return WayBack(exists=None, sentence=_ZOOKEEPER_UNSEEN, steps=steps)
            sentence = _until_finalised((facts.lag or 0) * facts.is_behind)
            if stage is MigrationStage.UNNOTED:
                sentence = "yes; what was changed since the copy is not in ZooKeeper, and lost then"
            return WayBack(exists=True, sentence=sentence, steps=steps)


def _until_finalised(behind: int) -> str:
    if not behind:
        return "yes, until it is finalised"
    records = "the last record" if behind == 1 else f"the last {behind} records"
    return (
        f"yes, but not now: ZooKeeper has not got {records}, and what they changed would be lost;"
        " wait until it has caught up"
    )


def _from_kraft(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    # 1.
    ids = [broker.node_id for broker in brokers if broker.mode is BrokerMode.KRAFT]
    if ids:
        yield WayBackStep(
            sentence=f"restart {_restarted(ids)} in migration mode: broker.id,"
            " zookeeper.connect and zookeeper.metadata.migration.enable=true, no process.roles"
        )


def _stop() -> WayBackStep:
    return WayBackStep(sentence="stop all controllers")


def _delete_controller(shell: str) -> WayBackStep:
    # 2.
    return WayBackStep(
        sentence="at once delete /controller, so that a broker becomes controller: until then"
        " nobody is",
        command=f"{shell} delete /controller",
    )


def _delete_migration(shell: str) -> Iterator[WayBackStep]:
    yield WayBackStep(sentence="note what /migration says", command=f"{shell} get /migration")
    yield WayBackStep(
        sentence="delete /migration, so that a later migration begins anew",
        command=f"{shell} delete /migration",
    )


def _in_zookeeper_mode(facts: MigrationFacts) -> Iterator[WayBackStep]:
    # Brokers that had been KRaft brokers cannot claim /controller.
    if facts.zookeeper is not None and facts.zookeeper.controller is None:
        yield WayBackStep(
            sentence="see that every broker is in ZooKeeper mode: broker.id and zookeeper.connect,"
            " no process.roles; nobody is controller until one starts so"
        )


def _restart(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    # 3.
    registered = (BrokerMode.ZOOKEEPER, BrokerMode.KRAFT)
    if ids := [broker.node_id for broker in brokers if broker.mode in registered]:
        yield WayBackStep(sentence=f"restart {_restarted(ids)} without {FLAGS}")
    else:
        # None is registered: none is known to have them, and one that has them cannot start.
        yield WayBackStep(sentence=f"restart a broker without {FLAGS}, if it has them")
    yield _format_anew()


def _restart_all(brokers: Sequence[BrokerReadiness]) -> Iterator[WayBackStep]:
    # 3. After a copy all have them, even if no log tells it.
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
