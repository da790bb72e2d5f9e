"""Each rule of KIP-841 and KIP-966 is seen to be broken by a change that breaks it."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.partition import MIGRATING, NO_LEADER, RECOVERING, PartitionRegistration
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_versions import METADATA_VERSION, MetadataVersion
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord
from virtual_nodes.brokers import replica_rules as rules
from virtual_nodes.brokers.replica_rules import RULES, CommittedChange, Stops

TOPIC = UUID(int=7 << 64)
OFFSET = 40
OLD = PartitionRegistration(
    replicas=(1, 2, 3), directories=(MIGRATING,) * 3, isr=(1, 2), leader=1, partition_epoch=5
)
LED_BY_2 = replace(OLD, isr=(2,), elr=(1,), leader=2, leader_epoch=1, partition_epoch=6)
ELIGIBLE = replace(OLD, isr=(), elr=(1, 2), leader=NO_LEADER, last_known_elr=(1,))
NOBODY = replace(ELIGIBLE, elr=())


def registration(id: int, *, epoch: int = 10, incarnation: int = 1) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=id, incarnation_id=UUID(int=incarnation), broker_epoch=epoch, fenced=True
    )


def image(
    partition: PartitionRegistration,
    active: tuple[int, ...] = (1, 2, 3),
    *registrations: RegisterBrokerRecord,
) -> MetadataImage:
    """Return an image with one partition, whose topic has min.insync.replicas 2."""
    brokers = {id: registration(id) for id in (1, 2, 3)}
    for id in active:
        brokers[id].fenced = False
    brokers |= {record.broker_id: record for record in registrations}
    config = ConfigRecord(
        resource_type=ResourceType.TOPIC,
        resource_name="t",
        name="min.insync.replicas",
        value="2",
    )
    return apply_all(
        EMPTY,
        [
            FeatureLevelRecord(name=METADATA_VERSION, feature_level=30),
            *brokers.values(),
            TopicRecord(name="t", topic_id=TOPIC),
            partition.record(TOPIC, 0, MetadataVersion(30), elr=True),
            config,
        ],
    )


def broken(before: MetadataImage, after: MetadataImage, stops: Stops | None = None) -> set[str]:
    change = CommittedChange(
        before=before, after=after, offset=OFFSET, stops=Stops() if stops is None else stops
    )
    return {rule.__name__ for rule in RULES if list(rule(change))}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (image(OLD), image(LED_BY_2, (2, 3))),
        (image(ELIGIBLE, (3,)), image(replace(LED_BY_2, leader_epoch=1), (2, 3))),
        (
            image(NOBODY, (3,)),
            image(
                replace(LED_BY_2, isr=(1,), elr=(), leader=1, leader_recovery_state=RECOVERING),
                (1, 3),
            ),
        ),
        (
            image(replace(NOBODY, isr=(3,), elr=(1,)), (2,)),
            image(
                replace(LED_BY_2, isr=(1,), elr=(), leader=1, leader_recovery_state=RECOVERING),
                (1, 2),
            ),
        ),
        (image(OLD), image(OLD)),
    ],
    ids=[
        "of the ISR",
        "of the ELR",
        "the last known leader",
        "of the ELR, unclean, beside an ISR that is not active",
        "no change",
    ],
)
def test_what_kafka_does_breaks_none(before: MetadataImage, after: MetadataImage) -> None:
    assert broken(before, after) == set()


LOST = replace(ELIGIBLE, leader_epoch=1, partition_epoch=6)
BROKEN: dict[rules.Rule, tuple[MetadataImage, MetadataImage]] = {
    rules.isr_is_active: (image(OLD), image(OLD, (1, 3))),
    rules.leader_is_active: (image(OLD), image(OLD, (2, 3))),
    rules.nobody_leads_only_without_candidates: (image(OLD), image(LOST)),
    rules.epochs_only_rise: (image(OLD), image(replace(LED_BY_2, leader_epoch=0), (2, 3))),
    rules.broker_epochs_only_rise: (
        image(OLD),
        image(OLD, (1, 2, 3), registration(3, epoch=9, incarnation=2)),
    ),
    rules.elr_is_below_min_isr: (image(OLD), image(replace(LED_BY_2, isr=(2, 3)), (2, 3))),
    rules.elr_keeps_who_has_all_records: (image(OLD), image(replace(LED_BY_2, elr=()), (2, 3))),
    rules.who_stopped_unclean_is_not_eligible: (
        image(OLD),
        image(LED_BY_2, (2, 3), registration(1, epoch=OFFSET, incarnation=2)),
    ),
    rules.leaders_are_elected_clean: (
        image(ELIGIBLE, (3,)),
        image(replace(LED_BY_2, isr=(3,), leader=3), (2, 3)),
    ),
    rules.last_leader_is_known: (image(OLD), image(replace(LOST, last_known_elr=()), (3,))),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_finds_what_breaks_it(rule: rules.Rule) -> None:
    before, after = BROKEN[rule]
    assert rule.__name__ in broken(before, after)


def test_who_names_its_former_epoch_stays_eligible() -> None:
    before = image(LED_BY_2, (2, 3))
    after = image(LED_BY_2, (2, 3), registration(1, epoch=OFFSET, incarnation=2))
    stops = Stops(previous_epochs={(1, UUID(int=2)): 10})
    assert broken(before, after, stops) == set()


def test_a_client_may_ask_for_an_unclean_leader() -> None:
    before = image(replace(NOBODY, last_known_elr=()), (3,))
    led = replace(LED_BY_2, isr=(3,), elr=(), leader=3, leader_recovery_state=RECOVERING)
    after = image(led, (3,))
    assert broken(before, after) == {"leaders_are_elected_clean"}
    assert broken(before, after, Stops(unclean_elections={("t", 0)})) == set()
