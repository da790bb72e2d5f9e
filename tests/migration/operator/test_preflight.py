"""ZooKeeper alone, before a copy: a real one of Kafka 3.9.1, and what would stop its copy."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from kwire.doctor.finding import Finding, FindingVerdict
from kwire.migration.operator.preflight import preflight_findings
from kwire.migration.operator.zookeeper_entries import ZooKeeperReading
from kwire.migration.operator.zookeeper_reading import ZooKeeperReader
from kwire.migration.operator.zookeeper_side import read_facts
from kwire.zookeeper import Create, SetData, ZnodeOperation
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.znodes import MigrationZnode
from migrating.real_clusters.properties import ENCODER_SECRET
from tests.support.migration.golden import golden_zookeeper
from tests.support.migration.sides import zookeeper


async def preflight(
    stage: str = "before", changes: Iterable[ZnodeOperation] = (), *, with_secret: bool = False
) -> dict[str, Finding]:
    session = golden_zookeeper(stage).open_session()
    await session.multi([*changes])
    facts = await read_facts(session, "zk")
    encoder = PasswordEncoder(secret=ENCODER_SECRET) if with_secret else None
    reading = await ZooKeeperReader(session, encoder=encoder).read()
    found = preflight_findings(facts, reading, with_secret=with_secret)
    return {finding.id: finding for finding in found}


async def test_a_real_cluster_can_be_copied_but_for_its_password() -> None:
    found = await preflight()
    assert set(found) == {"before/passwords", "before/reassignments", "before/ok"}
    assert found["before/passwords"].evidence == (
        "listener.name.sasl.scram-sha-512.sasl.jaas.config in /config/brokers/0",
    )


async def test_a_pending_deletion_is_told() -> None:
    found = await preflight("claim", with_secret=True)
    assert found["before/pending-deletions"].evidence == ("doomed",)
    assert "before/passwords" not in found


async def test_broken_znodes_stand_with_their_paths() -> None:
    found = await preflight(changes=[SetData("/brokers/topics/grown", b"{")])
    (evidence,) = found["before/broken-znode"].evidence
    assert evidence.startswith("/brokers/topics/grown: ")
    assert "before/ok" not in found


async def test_a_topic_without_an_id_stops_the_copy() -> None:
    content = b'{"version":1,"partitions":{"0":[0]}}'
    found = await preflight(changes=[SetData("/brokers/topics/grown", content)])
    assert found["before/no-topic-id"].evidence == ("grown",)


async def test_a_credential_of_a_pair_stops_the_copy_and_is_not_printed() -> None:
    content = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=c2VjcmV0","producer_byte_rate":"1"}}'
    user = "/config/users/eve"
    changes = [Create(user), Create(f"{user}/clients"), Create(f"{user}/clients/app", content)]
    found = await preflight(changes=changes)
    assert found["before/credential-of-a-pair"].evidence == ("/config/users/eve/clients/app",)
    assert not {"before/ok", "before/broken-znode", "before/unreadable-quota"} & found.keys()
    assert "c2VjcmV0" not in str(found)


async def test_empty_producer_ids_stop_the_copy() -> None:
    found = await preflight(changes=[SetData("/latest_producer_id_block", b"")])
    assert "before/empty-producer-ids" in found
    assert "before/ok" not in found


async def test_a_password_that_is_not_encrypted_stops_a_copy_with_a_secret() -> None:
    password = b'{"version":1,"config":{"listener.name.sasl.ssl.key.password":"s3cret"}}'
    changes = [SetData("/config/brokers/0", password)]
    assert "before/ok" in await preflight(changes=changes)
    found = await preflight(changes=changes, with_secret=True)
    evidence = ("listener.name.sasl.ssl.key.password in /config/brokers/0",)
    assert found["before/unencrypted-password"].evidence == evidence
    assert "before/ok" not in found
    assert "s3cret" not in str(found)


async def test_configuration_of_no_broker_stops_the_copy() -> None:
    content = b'{"version":1,"config":{"log.retention.ms":"7"}}'
    found = await preflight(changes=[Create("/config/brokers/one", content)])
    assert found["before/config-of-no-broker"].evidence == ("/config/brokers/one",)
    assert "before/ok" not in found


async def test_a_broker_that_does_not_run_is_named_with_its_topics() -> None:
    content = b'{"version":3,"topic_id":"iKFJZ3D2TsW_gqFN_ovwEQ","partitions":{"0":[7]},'
    content += b'"adding_replicas":{},"removing_replicas":{}}'
    found = await preflight(changes=[SetData("/brokers/topics/grown", content)])
    assert found["before/dead-broker"].sentence.startswith("broker 7 has replicas of 1 topic")
    assert found["before/dead-broker"].evidence == ("grown",)


def test_an_old_migration_and_no_brokers_are_problems() -> None:
    side = replace(zookeeper(broker_ids=()), migration=MigrationZnode(kraft_metadata_offset=48))
    found = preflight_findings(side, ZooKeeperReading(), with_secret=False)
    assert [finding.id for finding in found] == ["before/foreign-migration", "before/no-brokers"]


def topic_znode(partitions: str, id: str = "iKFJZ3D2TsW_gqFN_ovwEQ") -> bytes:
    content = f'{{"version":3,"topic_id":"{id}","partitions":{partitions},'
    return f'{content}"adding_replicas":{{}},"removing_replicas":{{}}}}'.encode()


def topic(name: str, *args: str, state: str = "") -> list[ZnodeOperation]:
    path = f"/brokers/topics/{name}"
    made: list[ZnodeOperation] = [Create(path, topic_znode(*args))]
    if state:
        above = (f"{path}/partitions", f"{path}/partitions/0")
        content = f'{{"version":1,"controller_epoch":1,"leader_epoch":1,{state}}}'
        made += [*map(Create, above), Create(f"{above[1]}/state", content.encode())]
    return made


ONE = '{"0":[0]}'
NAMES = "letters and digits, '.', '_' and '-'."


@pytest.mark.parametrize(
    ("changes", "finding", "evidence"),
    [
        (
            [*topic("x", ONE), *topic("y", ONE)],
            "before/doubled-topic-id",
            "iKFJZ3D2TsW_gqFN_ovwEQ: __transaction_state, x, y",
        ),
        (topic("x", '{"0":[0],"2":[0]}'), "before/partition-gaps", "x"),
        (topic("x", '{"1":[0]}'), "before/partition-gaps", "x"),
        (topic("x", '{"0":[0,0]}'), "before/inconsistent-partition", "x-0: replicas [0, 0]"),
        (topic("x", '{"0":[]}'), "before/inconsistent-partition", "x-0: no replicas"),
        (
            topic("x", ONE, state='"leader":0,"isr":[0,1]'),
            "before/inconsistent-partition",
            "x-0: ISR [0, 1] is not within the replicas [0]",
        ),
        (
            topic("x", ONE, state='"leader":1,"isr":[0]'),
            "before/inconsistent-partition",
            "x-0: leader 1 is not in the ISR [0]",
        ),
        (topic("x", ONE, state='"leader":-1,"isr":[]'), "before/no-leader", "x-0"),
        (
            topic("a b", ONE),
            "before/invalid-topic-name",
            f"'a b': 'a b' has other characters than ASCII {NAMES}",
        ),
        (
            [SetData("/config/topics/orders", b'{"version":1,"config":{"retention.ms":"soon"}}')],
            "before/refused-value",
            "retention.ms=soon of topic orders",
        ),
        (
            [SetData("/config/brokers/0", b'{"version":1,"config":{"log.retention.ms":"x"}}')],
            "before/refused-value",
            "log.retention.ms=x of broker 0",
        ),
        (
            [Create("/config/topics/gone", b'{"version":1,"config":{"retention.ms":"7"}}')],
            "before/config-of-no-topic",
            "gone",
        ),
    ],
)
async def test_what_a_copy_takes_over_and_does_harm_is_told(
    changes: list[ZnodeOperation], finding: str, evidence: str
) -> None:
    found = await preflight(changes=changes)
    assert found[finding].evidence == (evidence,)
    problems = [item for item in found.values() if item.verdict is FindingVerdict.PROBLEM]
    assert ("before/ok" in found) == (not problems)


async def test_nothing_is_told_of_topics_that_are_deleted_or_cannot_be_read() -> None:
    deletion = Create("/admin/delete_topics/x")
    config = Create("/config/topics/y", b'{"version":1,"config":{"retention.ms":"7"}}')
    broken = Create("/brokers/topics/y", b"{")
    expected = {"before/broken-znode", "before/passwords", "before/reassignments"}
    found = await preflight(changes=[*topic("x", '{"1":[0,0]}'), deletion, broken, config])
    assert found.keys() == expected | {"before/pending-deletions"}
