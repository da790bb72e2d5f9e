"""The steps from static to dynamic voters: what is done, what is next, what waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kwire.admin.quorum import QuorumInfo
from kwire.doctor.evidence import Evidence, NodeEvidence
from kwire.doctor.upgrade_plan import PlanStep, StepState, upgrade_plan
from kwire.image import MetadataImage
from kwire.net.negotiation import VersionRange
from tests.support.doctor.evidence import (
    LATEST,
    OLD,
    address,
    broker,
    broker_at,
    controller,
    evidence_of,
    image_of,
    quorum_info,
    registered,
    replica,
    silent,
)

VOTERS = {"controller.quorum.voters": "1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093"}
SERVERS = {"controller.quorum.bootstrap.servers": "10.0.0.1:9093,10.0.0.2:9093,10.0.0.3:9093"}
KAFKA_4_0 = {"metadata.version": VersionRange(7, 25), "kraft.version": VersionRange(0, 1)}
KAFKA_4_1 = {"metadata.version": VersionRange(7, 27), "kraft.version": VersionRange(0, 1)}


def static(quorum: QuorumInfo) -> QuorumInfo:
    """Return the quorum as a leader of static voters describes it: without directory ids."""
    voters = (replace(voter, replica_directory_id=None) for voter in quorum.voters)
    return replace(quorum, voters=tuple(voters))


QUORUM = quorum_info(map(replica, (1, 2, 3)), [replica(11)])


def cluster(
    *,
    kraft_version: int = 0,
    dynamic: bool = False,
    controllers: Mapping[int, Mapping[str, str]] | None = None,
    broker_config: Mapping[str, str] | None = None,
    image: MetadataImage | None = None,
) -> Evidence:
    """Return evidence of voters 1, 2 and 3, of which 1 leads, and broker 11."""
    configs = {1: VOTERS, 2: VOTERS, 3: VOTERS} | dict(controllers or {})
    quorum = QUORUM if dynamic else static(QUORUM)
    nodes = [
        controller(
            node_id,
            quorum if node_id == 1 else None,
            configs=configs[node_id],
            kraft_version=kraft_version,
        )
        for node_id in configs
    ]
    answer = replace(
        broker_at(11, address(11)), configs=VOTERS if broker_config is None else broker_config
    )
    evidence = evidence_of(*nodes, image=image or registrations())
    return replace(evidence, brokers={11: answer})


def registrations(
    controllers: Mapping[int, Mapping[str, VersionRange]] | None = None,
    broker_features: Mapping[str, VersionRange] = LATEST,
) -> MetadataImage:
    """Return the image of controllers 1, 2 and 3, and broker 11."""
    features = {1: LATEST, 2: LATEST, 3: LATEST} | dict(controllers or {})
    return image_of(
        [registered(node_id, features[node_id]) for node_id in features],
        [broker(11, broker_features)],
    )


def states(steps: tuple[PlanStep, ...]) -> list[tuple[int, int | None, str]]:
    """Return number, node and state of each step."""
    return [(step.number, step.node_id, step.state.value) for step in steps]


def step(evidence: Evidence, number: int, node_id: int | None = None) -> PlanStep:
    """Return one step of the plan."""
    return next(
        item for item in upgrade_plan(evidence) if (item.number, item.node_id) == (number, node_id)
    )


def test_a_static_quorum_raises_the_level_before_any_node_changes() -> None:
    assert states(upgrade_plan(cluster())) == [
        (1, None, "done"),
        (2, None, "done"),
        (3, None, "next"),
        (4, 2, "later"),
        (4, 3, "later"),
        (4, 1, "later"),  # the leader, last of the controllers
        (4, 11, "later"),
        (5, None, "later"),
    ]
    assert step(cluster(), 3).command == "kwire features upgrade kraft.version=1"


def test_after_the_level_one_node_after_the_other_changes_and_the_leader_comes_last() -> None:
    raised = cluster(kraft_version=1, dynamic=True)
    assert states(upgrade_plan(raised)) == [
        (1, None, "done"),
        (2, None, "done"),
        (3, None, "done"),
        (4, 2, "next"),
        (4, 3, "later"),
        (4, 1, "later"),
        (4, 11, "later"),
        (5, None, "done"),
    ]
    second = step(raised, 4, 2)
    assert second.sentence.endswith(
        "controller.quorum.bootstrap.servers=10.0.0.1:9093,10.0.0.2:9093,10.0.0.3:9093,"
        " and restart it"
    )
    assert second.evidence[0] == f"controller.quorum.voters={VOTERS['controller.quorum.voters']}"
    assert second.evidence[1].endswith(": safe")
    assert second.command == "kwire quorum check --without 2"


def test_with_all_nodes_changed_everything_is_done() -> None:
    changed = cluster(
        kraft_version=1,
        dynamic=True,
        controllers={1: SERVERS, 2: SERVERS, 3: SERVERS},
        broker_config=SERVERS,
    )
    assert {item.state for item in upgrade_plan(changed)} == {StepState.DONE}


def test_a_broker_that_keeps_the_list_is_next_after_the_controllers() -> None:
    left = cluster(kraft_version=1, dynamic=True, controllers={1: SERVERS, 2: SERVERS, 3: SERVERS})
    assert step(left, 4, 11).state is StepState.NEXT


def test_both_properties_at_once_are_not_done() -> None:
    both = cluster(kraft_version=1, dynamic=True, controllers={2: VOTERS | SERVERS})
    assert step(both, 4, 2).state is StepState.NEXT


def test_the_level_over_voters_without_directory_ids_is_not_done() -> None:
    """Kafka 3.9 and 4.0 raise the level and leave the voters static (KAFKA-18979)."""
    pretended = cluster(kraft_version=1)
    third = step(pretended, 3)
    assert third.state is StepState.NEXT
    assert "KAFKA-18979" in third.sentence
    assert step(pretended, 4, 2).state is StepState.LATER


def running(evidence: Evidence, node_id: int, features: Mapping[str, VersionRange]) -> Evidence:
    """Return the evidence with a controller that tells other features."""
    nodes = [
        replace(node, api=replace(node.api, supported_features=features))
        if node.node_id == node_id and node.api
        else node
        for node in evidence.nodes
    ]
    return replace(evidence, nodes=tuple(nodes))


def test_a_voter_older_than_4_1_comes_first() -> None:
    """Kafka 4.0 supports kraft.version 1, and does not send its directory id to the leader."""
    first = step(running(cluster(), 3, KAFKA_4_0), 1)
    assert first.state is StepState.NEXT
    assert first.evidence == (
        "voter 3 supports metadata.version up to 25 (4.0-IV3): older than Kafka 4.1",
    )
    assert step(running(cluster(), 3, KAFKA_4_1), 1).state is StepState.DONE


def test_only_what_the_leader_refuses_counts_of_a_controller_that_is_gone() -> None:
    assert step(cluster(image=registrations({4: KAFKA_4_0})), 1).state is StepState.DONE
    first = step(cluster(image=registrations({4: OLD})), 1)
    assert first.evidence == (
        "controller 4 does not support kraft.version 1: older than Kafka 3.9",
    )


def test_a_broker_that_does_not_support_the_level_comes_first() -> None:
    first = step(cluster(image=registrations(broker_features=OLD)), 1)
    assert first.evidence == ("broker 11 does not support kraft.version 1: older than Kafka 3.9",)


def test_a_voter_that_lags_or_lost_its_list_too_early_holds_the_level_up() -> None:
    lost = step(cluster(controllers={2: SERVERS}), 2)
    assert lost.evidence == (
        "controller 2 runs without controller.quorum.voters, though kraft.version is 0: set it"
        " again and restart it",
    )
    lagging = quorum_info([replica(1), replica(2), replica(3, behind_ms=60_000)])
    evidence = evidence_of(
        controller(1, static(lagging), kraft_version=0, configs=VOTERS), image=registrations()
    )
    assert step(evidence, 2).evidence == ("controller 3 is not caught up",)
    assert step(evidence, 3).state is StepState.LATER


def test_a_voter_that_is_not_registered_is_named() -> None:
    image = image_of([registered(node_id, LATEST) for node_id in (1, 2)], [broker(11, LATEST)])
    assert step(cluster(image=image), 2).evidence == ("controller 3 is not registered",)


def test_a_node_that_does_not_tell_its_properties_is_unknown_and_holds_nobody_up() -> None:
    evidence = cluster(
        kraft_version=1, dynamic=True, controllers={1: SERVERS, 2: SERVERS, 3: SERVERS}
    )
    down = replace(evidence, brokers={11: silent(address(11))})
    unknown = step(down, 4, 11)
    assert unknown.state is StepState.UNKNOWN
    assert "nothing listens there" in unknown.evidence[0]


def test_without_an_answer_nothing_is_said_to_be_done_or_next() -> None:
    nobody: NodeEvidence = silent(address(1))
    plan = upgrade_plan(replace(evidence_of(nobody), no_image="no controller was reached"))
    assert {item.state for item in plan} <= {StepState.UNKNOWN, StepState.LATER}
