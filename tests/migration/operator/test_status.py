"""The stages of a migration, the way back from each, and the findings."""

from dataclasses import replace

import pytest
from msgspec import structs

from kwire.doctor.finding import FindingVerdict
from kwire.image.features import ZkMigrationState
from kwire.migration.operator.facts import MigrationFacts
from kwire.migration.operator.findings.preflight import PREFLIGHT_KINDS
from kwire.migration.operator.findings.status import STATUS_KINDS
from kwire.migration.operator.findings.verify import VERIFY_KINDS
from kwire.migration.operator.stage import MigrationStage
from kwire.migration.operator.status import status_of
from tests.support.migration.sides import (
    BEFORE_THE_COPY,
    CONNECT,
    KRAFT_CONTROLLER,
    UP_TO_48,
    broker,
    dual_write,
    finalised,
    kraft,
    left_over,
    stuck,
    unnoted,
    waiting,
    zookeeper,
)

STAGES = {
    MigrationStage.ZOOKEEPER: (MigrationFacts(zookeeper=zookeeper()), None),
    MigrationStage.PREPARED: (waiting(0), True),
    MigrationStage.COPYING: (
        MigrationFacts(
            zookeeper=zookeeper(KRAFT_CONTROLLER, BEFORE_THE_COPY),
            kraft=kraft(ZkMigrationState.PRE_MIGRATION, [broker(0), broker(1)]),
        ),
        True,
    ),
    MigrationStage.UNNOTED: (unnoted(), True),
    MigrationStage.HYBRID: (dual_write(1), True),
    MigrationStage.KRAFT_BROKERS: (dual_write(0, 1), True),
    MigrationStage.FINALISED: (finalised(), False),
    MigrationStage.KRAFT: (MigrationFacts(kraft=kraft(ZkMigrationState.NONE)), False),
    MigrationStage.LOST: (
        MigrationFacts(zookeeper=zookeeper(), kraft=kraft(ZkMigrationState.MIGRATION)),
        None,
    ),
    MigrationStage.RETURNING: (MigrationFacts(zookeeper=zookeeper(migration=UP_TO_48)), True),
    MigrationStage.LEFT_OVER: (left_over(), True),
    MigrationStage.UNKNOWN: (MigrationFacts(zookeeper=zookeeper(KRAFT_CONTROLLER)), None),
}


@pytest.mark.parametrize("stage", list(MigrationStage))
def test_each_stage_is_seen_and_tells_its_way_back(stage: MigrationStage) -> None:
    facts, exists = STAGES[stage]
    status = status_of(facts)
    assert (status.stage, status.way_back.exists) == (stage, exists)
    assert bool(status.way_back.steps) is bool(exists)


def test_kraft_brokers_go_back_before_the_controllers_end() -> None:
    steps = status_of(dual_write(0, 1)).way_back.steps
    sentences = [step.sentence.split(":")[0] for step in steps]
    assert sentences[0] == "restart brokers 0 and 1 one by one in migration mode"
    assert sentences[1] == "stop all controllers"
    assert [step.command for step in steps if step.command] == [
        "bin/zookeeper-shell.sh zk1:2181/kafka delete /controller",
        "bin/zookeeper-shell.sh zk1:2181/kafka get /migration",
        "bin/zookeeper-shell.sh zk1:2181/kafka delete /migration",
    ]


def test_the_way_back_restarts_the_brokers_that_are_registered() -> None:
    sentences = {
        number: [step.sentence for step in status_of(waiting(*range(number))).way_back.steps][3]
        for number in range(3)
    }
    flags = "zookeeper.metadata.migration.enable and controller.quorum.voters"
    assert sentences == {
        0: f"restart a broker without {flags}, if it has them",
        1: f"restart broker 0 without {flags}",
        2: f"restart brokers 0 and 1 one by one without {flags}",
    }


def test_controllers_that_nobody_asked_are_not_called_unseen() -> None:
    prepared = MigrationFacts(zookeeper=zookeeper(migration=BEFORE_THE_COPY))
    asked = replace(prepared, no_kraft="c1 refused")
    assert (
        status_of(prepared).sentence == "a migration was prepared; the controllers were not asked"
    )
    assert status_of(asked).sentence == "a migration was prepared; the controllers were not seen"
    unknown = MigrationFacts(no_zookeeper="zk1 refused")
    assert status_of(unknown).sentence == "not known: the controllers were not asked"


def test_before_the_copy_nothing_is_to_be_deleted_but_migration() -> None:
    commands = [step.command for step in status_of(waiting(0)).way_back.steps if step.command]
    assert not [command for command in commands if command.endswith("/controller")]


def commands(facts: MigrationFacts) -> list[str]:
    """Return what the steps of the way back do with zookeeper-shell."""
    steps = status_of(facts).way_back.steps
    return [step.command.partition("/kafka ")[2] for step in steps if step.command]


def test_a_way_back_goes_on_while_no_controller_is_seen() -> None:
    stopped = MigrationFacts(connect=CONNECT, zookeeper=zookeeper(KRAFT_CONTROLLER, UP_TO_48))
    returning = MigrationFacts(connect=CONNECT, zookeeper=zookeeper(migration=UP_TO_48))
    rest = ["get /migration", "delete /migration"]
    assert commands(stopped) == ["delete /controller", *rest]
    assert commands(returning) == rest
    assert "nothing was copied" not in status_of(returning).way_back.sentence


def test_a_copy_that_the_log_has_not_is_a_problem_and_nothing_is_waited_for() -> None:
    one_missing = left_over(broker(0))
    assert found(one_missing) == {"before/foreign-migration": FindingVerdict.PROBLEM}
    assert commands(one_missing) == ["get /migration", "delete /migration"]

    claimed = replace(one_missing, zookeeper=zookeeper(KRAFT_CONTROLLER, UP_TO_48))
    status = status_of(claimed)
    assert (status.stage, status.driver.state) == (MigrationStage.LEFT_OVER, "WAIT_FOR_BROKERS")
    assert commands(claimed) == ["delete /controller", "get /migration", "delete /migration"]
    assert "delete from ZooKeeper" in status.way_back.sentence

    ready = replace(claimed, kraft=left_over().kraft)
    assert status_of(ready).driver.state == "SYNC_KRAFT_TO_ZK"


def test_nothing_is_called_left_over_by_a_log_that_is_not_followed() -> None:
    facts = left_over()
    assert facts.kraft is not None
    for log in (replace(facts.kraft, leader_id=-1), replace(facts.kraft, no_image="nobody leads")):
        status = status_of(replace(facts, kraft=log))
        assert status.stage is MigrationStage.PREPARED
        assert "before/foreign-migration" not in [finding.id for finding in status.findings]


def test_who_cannot_see_zookeeper_is_not_told_that_nothing_gets_lost() -> None:
    unseen = replace(dual_write(1), zookeeper=None, no_zookeeper="zk1:2181 refused")
    status = status_of(unseen)
    assert (status.stage, status.way_back.exists) == (MigrationStage.HYBRID, None)
    assert "may lack" in status.way_back.sentence
    # In the chroot, also unseen; a stranger's / is not to be deleted from.
    assert commands(unseen)[0] == "delete /controller"
    nobody_asked = replace(unseen, connect="", no_zookeeper="")
    shells = {step.command.split()[1] for step in status_of(nobody_asked).way_back.steps[2:5]}
    assert shells == {"HOST:2181/CHROOT"}


def test_without_a_controller_after_a_copy_brokers_are_to_be_in_zookeeper_mode() -> None:
    status = status_of(MigrationFacts(zookeeper=zookeeper(None, UP_TO_48)))
    assert status.stage is MigrationStage.RETURNING
    assert status.sentence == "on the way back: nobody is the controller after a copy"
    sentences = [step.sentence for step in status.way_back.steps]
    assert sentences[3].startswith("see that every broker is in ZooKeeper mode")
    assert sentences[4].startswith("restart brokers 0 and 1 one by one without")


def test_controllers_that_began_as_kraft_beside_a_living_zookeeper_are_a_problem() -> None:
    facts = MigrationFacts(zookeeper=zookeeper(), kraft=kraft(ZkMigrationState.NONE))
    assert found(facts) == {"sides/began-as-kraft": FindingVerdict.PROBLEM}
    status = status_of(facts)
    assert status.stage is MigrationStage.KRAFT
    assert status.way_back.sentence == "not needed: nothing was copied from ZooKeeper"
    gone = replace(facts, zookeeper=zookeeper(None, broker_ids=()))
    assert found(gone) == {}


def test_a_broker_that_is_fenced_is_not_waited_for() -> None:
    facts = waiting(0, 1)
    assert facts.kraft is not None
    fenced = structs.replace(broker(1), fenced=True)
    log = kraft(ZkMigrationState.PRE_MIGRATION, [broker(0), fenced])
    assert found(replace(facts, kraft=log)) == {}
    assert status_of(replace(facts, kraft=log)).driver.state == "BECOME_CONTROLLER"


def test_the_lag_counts_the_records_after_the_offset() -> None:
    assert dual_write(end=49).lag == 0
    assert dual_write(end=60).lag == 11
    assert waiting().lag is None


def found(facts: MigrationFacts) -> dict[str, FindingVerdict]:
    return {finding.id: finding.verdict for finding in status_of(facts).findings}


def test_a_healthy_dual_write_has_no_findings() -> None:
    assert found(dual_write()) == {}


def test_a_side_that_was_not_seen_is_unknown() -> None:
    facts = MigrationFacts(no_zookeeper="zk1:2181 refused", no_kraft="c1:9093 refused")
    unknown = FindingVerdict.UNKNOWN
    assert found(facts) == {"sight/no-zookeeper": unknown, "sight/no-controllers": unknown}


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        ("CLUSTER_AUTHORIZATION_FAILED", "allow this principal CLUSTER_ACTION"),
        ("no controller that leads was reached", "kwire quorum check"),
        ("no leader gave it within 60 s: it is slow, or hangs", "look at the leader for"),
    ],
)
def test_a_log_that_was_not_read_is_advised_by_the_reason(reason: str, advice: str) -> None:
    unread = replace(kraft(ZkMigrationState.PRE_MIGRATION), image=None, no_image=reason)
    (finding,) = status_of(MigrationFacts(kraft=unread)).findings
    assert (finding.id, finding.verdict) == ("sight/no-log", FindingVerdict.UNKNOWN)
    assert finding.fixes[0].text.startswith(advice)
    assert ("CLUSTER_ACTION" in finding.advice) is ("AUTHORIZATION" in reason)


def test_another_cluster_is_a_problem() -> None:
    facts = waiting(0, 1)
    assert facts.kraft is not None
    other = replace(facts, kraft=replace(facts.kraft, cluster_id="other"))
    assert found(other) == {"sides/other-cluster": FindingVerdict.PROBLEM}


def test_a_dual_write_that_is_behind_is_a_warning() -> None:
    assert found(dual_write(end=150)) == {"dual-write/behind": FindingVerdict.WARNING}


def test_topics_that_zookeeper_lacks_would_be_lost_on_the_way_back() -> None:
    status = status_of(stuck("orders", "payments"))
    _, finding = status.findings
    assert (finding.id, finding.verdict) == ("way-back/topics", FindingVerdict.WARNING)
    assert finding.sentence == "going back now would lose 2 topics that ZooKeeper has not got"
    assert finding.evidence == ("orders", "payments")
    assert status.way_back.sentence.startswith("yes, but not now: ZooKeeper has not got the last")


def test_a_copy_that_its_leader_did_not_note_is_a_problem_with_a_way_back() -> None:
    assert found(unnoted()) == {"sides/copy-unnoted": FindingVerdict.PROBLEM}
    assert status_of(unnoted()).way_back.sentence == (
        "yes; what was changed since the copy is not in ZooKeeper, and lost then"
    )


def test_a_zookeeper_controller_in_dual_write_is_a_problem() -> None:
    facts = replace(dual_write(), zookeeper=replace(zookeeper(), migration=dual_write().migration))
    assert found(facts) == {"sides/controller-taken": FindingVerdict.PROBLEM}


def test_without_a_leader_nobody_is_said_to_be_behind_or_to_take_controller() -> None:
    facts = dual_write()
    assert facts.kraft is not None
    status = status_of(replace(facts, kraft=replace(facts.kraft, leader_id=-1, epoch=-1)))
    assert [finding.id for finding in status.findings] == ["dual-write/no-leader"]
    assert (status.driver.state, status.driver.reason) == ("INACTIVE", "no controller leads")


def test_a_controller_without_the_setting_would_finalise() -> None:
    facts = dual_write(0, 1)
    log = kraft(ZkMigrationState.MIGRATION, [broker(0, migrating=False)], ready=False)
    status = status_of(replace(facts, kraft=log))
    (finding,) = status.findings
    assert finding.id == "readiness/controller-finalises"
    assert finding.sentence.startswith("controller 3000 runs without zookeeper.metadata")
    (controller,) = status.controllers
    assert (controller.is_ready, controller.registered) == (None, False)
    assert controller.reason.endswith("finalises the migration if it leads")


def test_brokers_that_are_waited_for_are_one_finding() -> None:
    (finding,) = status_of(waiting()).findings
    assert finding.sentence == "the migration waits for brokers 0 and 1"


def test_ids_of_findings_are_unique() -> None:
    ids = [kind.id for kind in (*STATUS_KINDS, *VERIFY_KINDS, *PREFLIGHT_KINDS)]
    assert len(ids) == len(set(ids))
