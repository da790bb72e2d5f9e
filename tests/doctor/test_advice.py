"""Every finding's advice: its commands name ids and are commands, and a test executes it.

A kind that is not in the table fails here: it needs evidence that provokes it, and the test that
runs its advice on real Kafka, or the reason why none does.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from msgspec.structs import replace as with_fields

from kwire.admin.controller_state import FollowedLeader
from kwire.admin.registry import OPERATIONS, OperationRow, Reach
from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.fix_plan import with_cluster
from kwire.cli.main import app
from kwire.doctor.evidence import (
    EndpointOrigin,
    Evidence,
    KnownEndpoint,
    NodeEvidence,
    Unreachable,
)
from kwire.doctor.examine import KINDS, examine
from kwire.doctor.finding import Finding, FindingVerdict
from kwire.image import MetadataImage
from kwire.image.endpoint import Endpoint
from kwire.image.features import ZkMigrationState
from kwire.image.partition import PartitionRegistration
from kwire.net.address import Address
from tests.support.doctor.evidence import (
    LATEST,
    OLD,
    address,
    broker,
    controller,
    directory,
    evidence_of,
    healthy,
    healthy_image,
    image_of,
    partition,
    quorum_info,
    registered,
    replica,
    silent,
)
from tests.support.paths import ROOT

THREE = [registered(node_id, LATEST) for node_id in (1, 2, 3)]
LIST = "1@10.0.0.1:9093,2@10.0.0.2:9093,3@10.0.0.3:9093"
VOTERS = {"controller.quorum.voters": LIST}
AUTO_JOIN = {"controller.quorum.auto.join.enable": "true"}
NOBODY = FollowedLeader(leader_id=None, epoch=14)
EMPTY = FollowedLeader(leader_id=None, epoch=0)


def quorum_of(*silences: int, observers: Iterable[int] = ()) -> Evidence:
    """Return evidence of voters that fetched so many ms ago; those that did not are down."""
    voters = [replica(id, silent_ms=ms, behind_ms=ms) for id, ms in enumerate(silences, 1)]
    info = quorum_info(voters, map(replica, observers))
    nodes = [
        controller(id, info if id == 1 else None) if ms < 5_000 else silent(address(id))
        for id, ms in enumerate(silences, 1)
    ]
    nodes += map(controller, observers)
    image = image_of(
        [registered(id, LATEST) for id in (*range(1, len(voters) + 1), *observers)], []
    )
    return evidence_of(*nodes, image=image)


def without_leader(*nodes: NodeEvidence) -> Evidence:
    """Return evidence of nodes that name nobody who was reached."""
    return evidence_of(*nodes)


def static(*lists: str, kraft_version: int = 0) -> Evidence:
    """Return evidence of static voters with these lists."""
    voters = [replace(replica(id), replica_directory_id=None) for id in (1, 2, 3)]
    nodes = [
        controller(
            id,
            quorum_info(voters) if id == 1 else None,
            configs={"controller.quorum.voters": text},
            kraft_version=kraft_version,
        )
        for id, text in enumerate(lists, 1)
    ]
    return evidence_of(*nodes, image=healthy_image())


def advertised(at: Address, *answers: NodeEvidence, protocol: str | None = None) -> Evidence:
    """Return evidence of a voter 2 that has one more endpoint, where this answers."""
    evidence = healthy()
    more = KnownEndpoint(
        address=at,
        origin=EndpointOrigin.REGISTRATION,
        node_id=2,
        listener="CONTROLLER",
        protocol=protocol,
    )
    return replace(
        evidence,
        nodes=(*evidence.nodes, *answers),
        endpoints=(*evidence.endpoints, more),
        protocol="SSL",
    )


def partitions(*parts: PartitionRegistration, down: int = 12) -> MetadataImage:
    """Return an image with brokers 11 to 14, one of them fenced, and these partitions."""
    at = Endpoint(name="B", host="10.0.1.11", port=9092, security_protocol=0)
    brokers = [
        with_fields(broker(id, LATEST, fenced=id == down), endpoints=(at,)) for id in range(11, 15)
    ]
    return image_of(THREE, brokers, parts)


def moving(replicas: tuple[int, ...], adding: int, removing: int) -> PartitionRegistration:
    """Return a partition on the move whose leader is all of its ISR."""
    part = partition(replicas, isr=replicas[:1], leader=replicas[0])
    return with_fields(part, adding_replicas=(adding,), removing_replicas=(removing,))


def migrating(state: ZkMigrationState) -> Evidence:
    """Return evidence of a migration with broker 11, which runs with ZooKeeper."""
    brokers = [with_fields(broker(11, LATEST), is_migrating_zk_broker=True)]
    return healthy(image=image_of(THREE, brokers, zk_migration_state=state))


def refusing(reason: str) -> Evidence:
    """Return evidence of a controller 2 that refuses DescribeConfigs, for a user `alice`."""
    evidence = healthy()
    first, second, third = evidence.nodes
    refused = replace(second, refusals={"DescribeConfigs": reason})
    return replace(evidence, nodes=(first, refused, third), principal="User:alice")


def secured(first: str, second: str, mechanism: str = "PLAIN") -> Evidence:
    """Return evidence of two controllers whose listeners have these protocols."""
    info = quorum_info(map(replica, (1, 2)))
    configs = [
        {
            "controller.listener.names": "C",
            "listener.security.protocol.map": f"C:{protocol}",
            "sasl.mechanism.controller.protocol": mechanism,
        }
        for protocol in (first, second)
    ]
    return evidence_of(controller(1, info, configs=configs[0]), controller(2, configs=configs[1]))


def new_disk(silent_ms: int) -> Evidence:
    """Return evidence of a voter 2 that fetched so long ago, and fetches with another disk."""
    voters = [replica(1), replica(2, silent_ms=silent_ms, behind_ms=silent_ms), replica(3)]
    other = replace(replica(2), replica_directory_id=directory(99))
    return healthy(quorum_info(voters, [other, replica(11)]))


def two_leaders(*voters: int) -> Evidence:
    other = quorum_info(map(replica, voters), epoch=15)
    return evidence_of(
        controller(1, quorum_info(map(replica, (1, 2, 3)))), controller(voters[0], other)
    )


def of_image(image: MetadataImage) -> Evidence:
    return healthy(image=image)


ON_KAFKA = "tests/doctor/test_advice_on_kafka.py::test_"
DEAD = f"{ON_KAFKA}a_controller_that_lost_its_disk_and_one_that_is_gone"
BROKERS = f"{ON_KAFKA}a_broker_that_is_gone_for_good"
LONG = f"{ON_KAFKA}the_other_faults"
STATIC = f"{ON_KAFKA}static_lists_that_differ"
STEPS = "tests/doctor/test_on_kafka.py::test_doctor_names_the_fault_at_each_step"
UPGRADE = "tests/cli/quorum/test_upgrade_on_kafka.py::test_a_static_quorum_is_upgraded"
BY_HAND = "by hand: "

LOST = partition((12,), isr=(), leader=-1, elr=(12,))
GONE_ISR = partition((11, 12), isr=(11,), leader=11)
IMAGE_OLD = image_of([*THREE, registered(5, OLD)], [], level=19)
OFFLINE = with_fields(partition((11,), isr=(11,), leader=11), directories=(directory(99),))
WITH_DISK = with_fields(broker(11, LATEST), directories=(directory(11),))

ADVISED: Mapping[str, tuple[Evidence, str]] = {
    "nodes/none-answer": (evidence_of(silent(address(1))), DEAD),
    "nodes/unreachable": (
        evidence_of(silent(address(9)), *healthy().nodes, image=healthy_image()),
        DEAD,
    ),
    "nodes/not-asked": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2, 3)), [replica(4)])),
            controller(2),
            controller(3),
            silent(address(4)),
            endpoints=[
                KnownEndpoint(address=address(4), origin=EndpointOrigin.REGISTRATION, node_id=4)
            ],
        ),
        f"{BY_HAND}a controller that only we cannot reach",
    ),
    "nodes/not-checked": (
        evidence_of(silent(address(1))),
        f"{BY_HAND}it has the advice of the findings above it",
    ),
    "nodes/slow": (
        replace(healthy(), nodes=(replace(healthy().nodes[0], seconds=1.2),)),
        f"{BY_HAND}only a slow machine or network provokes it",
    ),
    "nodes/refused": (
        refusing("CLUSTER_AUTHORIZATION_FAILED"),
        f"{BY_HAND}it needs the login of a super user",
    ),
    "nodes/no-metadata": (
        replace(healthy(), image=None, no_image="too late"),
        DEAD,
    ),
    "quorum/no-leader": (
        evidence_of(controller(1, follows=NOBODY, configs=VOTERS), silent(address(2))),
        DEAD,
    ),
    "quorum/leader-unreachable": (
        evidence_of(controller(2, registered=(1, 2)), silent(address(1))),
        DEAD,
    ),
    "quorum/leader-unknown": (evidence_of(controller(1, follows=None)), f"{BY_HAND}rights"),
    "quorum/no-majority": (quorum_of(0, 9_000, 9_000), f"{BY_HAND}a leader resigns after it"),
    "quorum/follows-nobody": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2)))), controller(2, follows=NOBODY)
        ),
        f"{BY_HAND}it lasts as long as a network is cut",
    ),
    "quorum/other-leader": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2)))),
            controller(2, follows=FollowedLeader(leader_id=2, epoch=13)),
        ),
        f"{BY_HAND}a moment of an election",
    ),
    "quorum/voter-silent": (quorum_of(0, 0, 9_000), DEAD),
    "quorum/voter-lags": (
        healthy(quorum_info([replica(1), replica(2), replica(3, behind_ms=9_000)], [replica(11)])),
        f"{BY_HAND}a voter that fetches is caught up within a moment, unless its disk is slow",
    ),
    "quorum/no-spare": (quorum_of(0, 0, observers=[3]), DEAD),
    "quorum/one-voter": (quorum_of(0, observers=[2, 3]), LONG),
    "quorum/even-voters": (quorum_of(0, 0, 0, 0), LONG),
    "quorum/observer-lags": (
        healthy(quorum_info(map(replica, (1, 2, 3)), [replica(11, behind_ms=20_000)])),
        f"{BY_HAND}an observer that fetches is caught up within a moment",
    ),
    "quorum/empty-log": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2)))),
            controller(2),
            controller(3, follows=EMPTY),
        ),
        LONG,
    ),
    "identity/cluster-ids-differ": (
        evidence_of(controller(1, quorum_info([replica(1)])), controller(2, cluster_id="other")),
        f"{BY_HAND}the advice is to stop and to format a node",
    ),
    "identity/two-quorums": (two_leaders(9), STEPS),
    "identity/two-leaders": (two_leaders(2, 1), f"{BY_HAND}a moment of an election"),
    "endpoints/wildcard": (advertised(Address("0.0.0.0", 9)), f"{BY_HAND}Kafka refuses to start"),
    "endpoints/unresolvable": (
        advertised(
            Address("x.invalid", 9), silent(Address("x.invalid", 9), Unreachable.UNRESOLVED)
        ),
        STEPS,
    ),
    "endpoints/nobody-answers": (quorum_of(0, 0, 9_000), DEAD),
    "endpoints/other-node": (
        advertised(address(3)),
        STEPS,
    ),
    "endpoints/other-cluster": (
        advertised(address(7), controller(7, cluster_id="other", at=address(7))),
        f"{BY_HAND}mended as endpoints/other-node, which is provoked",
    ),
    "endpoints/loopback": (
        advertised(Address("127.0.0.1", 9)),
        f"{BY_HAND}it needs a second machine",
    ),
    "endpoints/unnamed": (
        advertised(address(7), controller(None, at=address(7))),
        f"{BY_HAND}rights, as nodes/refused, which is provoked",
    ),
    "endpoints/other-protocol": (advertised(address(7), protocol="SASL_SSL"), STEPS),
    "endpoints/not-dialled": (
        advertised(address(9)),
        f"{BY_HAND}it needs hundreds of addresses",
    ),
    "voters/level-unknown": (
        replace(
            healthy(),
            nodes=tuple(
                replace(node, api=replace(node.api, finalized_features={}))
                for node in healthy().nodes
                if node.api
            ),
        ),
        f"{BY_HAND}only old controllers do not tell it",
    ),
    "voters/two-directories": (new_disk(9_000), DEAD),
    "voters/static-lists-differ": (static(LIST, LIST, LIST[:-19]), STATIC),
    "voters/static-left-over": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2))), configs=VOTERS), controller(2)
        ),
        STEPS,
    ),
    "voters/still-static": (static(LIST, LIST, LIST, kraft_version=1), UPGRADE),
    "voters/static": (static(LIST, LIST, LIST), UPGRADE),
    "voters/observer-could-vote": (quorum_of(0, 0, observers=[3]), DEAD),
    "voters/auto-join-waits": (
        evidence_of(
            controller(1, quorum_info(map(replica, (1, 2)), [replica(3)])),
            controller(2),
            controller(3, configs=AUTO_JOIN),
            image=image_of(THREE, []),
        ),
        STEPS,
    ),
    "voters/auto-join": (
        evidence_of(controller(1, quorum_info([replica(1)]), configs=AUTO_JOIN)),
        f"{BY_HAND}it says what to know before a removal",
    ),
    "registrations/stale": (
        of_image(image_of([*THREE, registered(5, LATEST)], [], level=33)),
        LONG,
    ),
    "registrations/blocks-upgrade": (of_image(IMAGE_OLD), UPGRADE),
    "registrations/missing": (
        of_image(image_of(THREE[:2], [])),
        f"{BY_HAND}Kafka's controllers register before they answer",
    ),
    "features/can-be-finalized": (of_image(image_of(THREE, [], level=30)), LONG),
    "brokers/none": (of_image(image_of(THREE, [])), f"{BY_HAND}the advice is to start brokers"),
    "brokers/fenced": (of_image(partitions(GONE_ISR)), BROKERS),
    "brokers/offline-directory": (
        of_image(image_of(THREE, [WITH_DISK, broker(12, LATEST)], [OFFLINE])),
        f"{BY_HAND}it needs a disk that fails",
    ),
    "partitions/no-leader": (of_image(partitions(LOST)), BROKERS),
    "partitions/under-min-isr": (
        replace(
            of_image(partitions(GONE_ISR)),
            nodes=tuple(
                replace(node, configs={**node.configs, "min.insync.replicas": "2"})
                for node in healthy().nodes
            ),
        ),
        BROKERS,
    ),
    "partitions/under-replicated": (of_image(partitions(GONE_ISR)), BROKERS),
    "partitions/move-stuck": (of_image(partitions(moving((11, 12), 11, 12))), BROKERS),
    "security/plaintext": (secured("PLAINTEXT", "PLAINTEXT"), f"{BY_HAND}edits of properties"),
    "security/no-tls": (secured("SASL_PLAINTEXT", "SSL"), f"{BY_HAND}edits of properties"),
    "security/protocols-differ": (secured("SSL", "SASL_SSL"), f"{BY_HAND}edits of properties"),
    "security/scram-between-controllers": (
        secured("SASL_SSL", "SASL_SSL", "SCRAM-SHA-512"),
        f"{BY_HAND}edits of properties",
    ),
    "security/not-told": (
        replace(healthy(), nodes=tuple(replace(node, configs={}) for node in healthy().nodes)),
        f"{BY_HAND}rights, as nodes/refused",
    ),
    "migration/waits": (
        migrating(ZkMigrationState.PRE_MIGRATION),
        f"{BY_HAND}the nightly migrations do these steps",
    ),
    "migration/under-way": (
        migrating(ZkMigrationState.MIGRATION),
        f"{BY_HAND}the nightly migrations do these steps",
    ),
    "migration/finalized-too-early": (
        migrating(ZkMigrationState.POST_MIGRATION),
        f"{BY_HAND}Kafka refuses to finalise so early",
    ),
}
"""For each kind: evidence that has it; the test that executes its advice, or why none does."""

NEEDS_NOTHING = {kind.id for kind in KINDS if kind.verdict is FindingVerdict.OK} | {
    "brokers/shutting-down"
}


def provoked(id: str) -> Finding:
    """Return the finding of a kind in its evidence."""
    evidence, _ = ADVISED[id]
    return next(finding for finding in examine(evidence) if finding.id == id)


def test_every_finding_is_provoked_and_its_advice_executed() -> None:
    assert set(ADVISED) == {kind.id for kind in KINDS} - NEEDS_NOTHING
    for id, (_, executed) in ADVISED.items():
        path, found, test = executed.partition("::")
        if not found:
            assert executed.startswith(BY_HAND), id
            continue
        assert f"def {test}" in Path(ROOT, path).read_text(), (id, executed)


PLACEHOLDER = re.compile(r"\b(ID|NAME|OLD|LEVEL|PORT)\b")


@pytest.mark.parametrize("id", ADVISED)
def test_an_advice_names_ids_and_its_commands_are_commands(id: str) -> None:
    finding = provoked(id)
    assert finding.fixes
    assert finding.advice
    evidence, _ = ADVISED[id]
    at = "10.0.0.1:9093,10.0.0.2:9093"
    for cluster in (ClusterOptions(server=at), ClusterOptions(controller=at)):
        for item in finding.fixes:
            assert item.steps
            assert not [step for step in item.steps if PLACEHOLDER.search(step)]
            for command in item.commands:
                assert not [row.name for row in rows_of(command) if row.reach in ASKS_BROKERS]
                parse(shlex.split(with_cluster(command, cluster, evidence)))


ASKS_BROKERS = (Reach.UNLISTED, Reach.NEVER)
"""A command of the plan takes the bootstrap that doctor was given, controllers too."""


def rows_of(command: str) -> list[OperationRow]:
    """Return the operations whose command it is."""
    return [row for row in OPERATIONS if row.command and f"kwire {row.command} " in f"{command} "]


def parse(words: list[str]) -> None:
    """Have typer parse a command without calling it; raises its usage error."""
    command: Any = typer.main.get_command(app)
    _, *rest = words
    while hasattr(command, "list_commands"):
        command = command.get_command(typer.Context(command), rest.pop(0))
    command.make_context(command.name, rest)


@pytest.mark.parametrize(
    ("evidence", "id"),
    [
        (refusing("UNSUPPORTED_VERSION"), "nodes/refused"),
        (refusing("no answer in time"), "nodes/refused"),
        (ADVISED["nodes/no-metadata"][0], "nodes/no-metadata"),
    ],
)
def test_rights_are_advised_only_where_they_are_missing(evidence: Evidence, id: str) -> None:
    (finding,) = [finding for finding in examine(evidence) if finding.id == id]
    assert "acls" not in finding.advice
    denied = provoked("nodes/refused")
    assert "--allow-principal User:alice" in denied.advice


def test_names_in_a_metadata_log_are_quoted_for_a_shell() -> None:
    image = partitions(partition((12, 11), isr=(), leader=-1, elr=(12,)))
    topic = next(iter(image.topics.by_id.values()))
    hostile = replace_topic_name(image, topic.name, "a; rm -rf ~")
    (finding,) = [f for f in examine(of_image(hostile)) if f.id == "partitions/no-leader"]
    (command,) = finding.fixes[1].commands
    assert shlex.split(command) == ["kwire", "partitions", "elect", "a; rm -rf ~-0", "--unclean"]


def replace_topic_name(image: MetadataImage, old: str, new: str) -> MetadataImage:
    topic = image.topics.topic(old)
    assert topic is not None
    renamed = with_fields(topic, name=new)
    topics = with_fields(
        image.topics,
        by_id=image.topics.by_id.insert(topic.id, renamed),
        ids=image.topics.ids.insert(new, topic.id),
    )
    return with_fields(image, topics=topics)
