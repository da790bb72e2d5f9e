"""BrokerRegistration, after Kafka's ClusterControlManagerTest."""

from typing import Any
from uuid import UUID

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature, Listener
from kwire.messages.a62_broker_registration import Feature as BrokerFeature
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.messages.records.register_broker import RegisterBrokerRecord
from kwire.net.service import RequestContext
from tests.support.controller.handlers.registrations import (
    BAD_LISTENERS,
    update,
)


def test_a_new_broker_is_fenced(lab: Any) -> None:
    response = lab.ask(lab.registration(1))

    broker = lab.image.cluster.brokers[1]
    assert (response.error_code, response.broker_epoch) == (0, broker.epoch)
    assert broker.fenced


def test_the_broker_epoch_is_the_offset_at_which_the_batch_begins(lab: Any) -> None:
    before = lab.end_offset

    response = lab.ask(lab.registration(1))

    assert response.broker_epoch == before


def test_control_records_of_raft_count_for_the_broker_epoch(lab: Any) -> None:
    answer = lab.controller.handle(
        lab.registration(1), RequestContext(version=4), now=lab.now, end_offset=77
    )

    assert answer.response.broker_epoch == 77
    assert answer.wait_for == 78


def test_another_incarnation_waits_until_the_session_of_the_first_is_over(lab: Any) -> None:
    lab.start(1)
    again = lab.registration(1, incarnation_id=UUID(int=5))

    assert lab.ask(again).error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    lab.now += 9001
    assert lab.ask(again).error_code == ErrorCode.NONE
    assert lab.image.cluster.brokers[1].incarnation_id == UUID(int=5)


def test_another_incarnation_leads_nothing_and_is_in_no_isr_of_others(lab: Any) -> None:
    lab.start(1, 2)
    lab.create("t", (1, 2))
    lab.create("u", (1,))
    lab.now += 9001
    lab.heartbeat(2)
    before = lab.end_offset

    response = lab.ask(lab.registration(1, incarnation_id=UUID(int=5)))

    assert response.broker_epoch == before
    assert [type(record.record).__name__ for record in lab.log[-3:]] == [
        "PartitionChangeRecord",
        "PartitionChangeRecord",
        "RegisterBrokerRecord",
    ]
    assert (lab.partition("t").leader, lab.partition("t").isr) == (2, (2,))
    assert (lab.partition("u").leader, lab.partition("u").isr) == (-1, (1,))


def test_a_fenced_broker_has_no_session_to_wait_for(lab: Any) -> None:
    lab.register(1)

    response = lab.ask(lab.registration(1, incarnation_id=UUID(int=5)))

    assert response.error_code == ErrorCode.NONE


def test_the_same_incarnation_keeps_its_epoch_and_stays_unfenced(lab: Any) -> None:
    lab.start(1)
    before = lab.image.cluster.brokers[1]

    response = lab.ask(lab.registration(1, rack="b"))

    after = lab.image.cluster.brokers[1]
    assert response.broker_epoch == after.epoch == before.epoch
    assert (after.rack, after.fenced) == ("b", False)


def listeners(fields: list[dict[str, Any]]) -> list[Listener]:
    good = Listener(name="PLAINTEXT", host="localhost", port=9092)
    return [good.replace(**changes) for changes in fields]


def levels(first: int, last: int) -> list[Feature]:
    return [Feature(name=METADATA_VERSION, min_supported_version=first, max_supported_version=last)]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"is_migrating_zk_broker": True}, ErrorCode.BROKER_ID_NOT_REGISTERED),
        ({"log_dirs": ()}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (UUID(int=2),)}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (UUID(int=500), UUID(int=500))}, ErrorCode.INVALID_REGISTRATION),
        ({"log_dirs": (UUID(int=2007),)}, ErrorCode.INVALID_REGISTRATION),
        ({"features": levels(7, 29)}, ErrorCode.UNSUPPORTED_VERSION),
        ({"features": levels(31, 31)}, ErrorCode.UNSUPPORTED_VERSION),
        ({"features": []}, ErrorCode.INVALID_REGISTRATION),
        ({"broker_id": -1}, ErrorCode.INVALID_REGISTRATION),
        *(({"listeners": listeners(bad)}, ErrorCode.INVALID_REGISTRATION) for bad in BAD_LISTENERS),
    ],
)
def test_what_does_not_fit_the_cluster_is_refused(
    lab: Any, changes: dict[str, Any], code: ErrorCode
) -> None:
    lab.register(7)

    response = lab.ask(lab.registration(1, **changes))

    assert (response.error_code, response.broker_epoch) == (code, -1)
    assert 1 not in lab.image.cluster.brokers


@pytest.mark.parametrize(
    ("level", "version", "directories"),
    [(7, 1, 0), (8, 2, 0), (16, 2, 0), (17, 3, 1), (21, 3, 1), (29, 3, 1), (30, 4, 1)],
)
def test_the_record_version_follows_metadata_version(
    make_lab: Any, level: int, version: int, directories: int
) -> None:
    lab = make_lab(level=level)

    lab.register(1)

    written = lab.log[-1]
    assert isinstance(written.record, RegisterBrokerRecord)
    assert written.version == version
    assert len(written.record.log_dirs) == directories


def test_a_registered_broker_has_every_finalised_feature(lab: Any) -> None:
    update(lab, "group.version", 1)
    assert lab.ask(lab.registration(1)).error_code == ErrorCode.UNSUPPORTED_VERSION
    request: BrokerRegistrationRequest = lab.registration(1)
    request.features.append(
        BrokerFeature(name="group.version", min_supported_version=0, max_supported_version=1)
    )
    assert lab.ask(request).error_code == ErrorCode.NONE
