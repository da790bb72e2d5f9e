"""Registrations of controllers that are gone, and the features they hold back (KAFKA-20395)."""

from __future__ import annotations

from kwire.doctor.checks.registrations import check
from kwire.net.negotiation import VersionRange
from tests.support.doctor.evidence import (
    LATEST,
    OLD,
    broker,
    healthy,
    image_of,
    quorum_info,
    registered,
    replica,
)

PRESENT = [registered(node_id, LATEST) for node_id in (1, 2, 3)]


def test_a_removed_controller_blocks_the_upgrade_of_the_metadata_version() -> None:
    image = image_of([*PRESENT, registered(5, OLD)], [broker(11, LATEST)], level=19)
    stale, *blocking = check(healthy(image=image))
    assert stale.id == "registrations/stale"
    assert stale.sentence == "controller 5 is registered, but neither votes nor fetches"
    assert "it supports metadata.version 1-19" in stale.evidence
    assert [finding.sentence for finding in blocking] == [
        "kraft.version cannot be finalized above 0: controller 5 is registered and supports no"
        " more; all that take part support 1",
        "metadata.version cannot be finalized above 19: controller 5 is registered and supports no"
        " more; all that take part support 33",
    ]


def test_it_is_forgotten_by_a_command_only_where_the_cluster_can() -> None:
    new = image_of([*PRESENT, registered(5, LATEST)], [], level=33)
    (finding,) = check(healthy(image=new))
    assert finding.advice == ("start controller 5; if it is gone for good: kwire quorum forget 5")
    old = image_of([*PRESENT, registered(5, LATEST)], [], level=32)
    (finding,) = check(healthy(image=old))
    assert finding.fixes[1].steps == (
        "kwire features upgrade metadata.version=33",
        "kwire quorum forget 5",
    )


def test_where_no_request_removes_it_the_advice_is_to_disarm_it_once() -> None:
    """The voters are of 4.3: they have no UnregisterController at their metadata.version."""
    voters = {"metadata.version": VersionRange(7, 30)}
    present = [registered(node_id, voters) for node_id in (1, 2, 3)]
    goes = "and goes only with metadata.version 33 (Kafka 4.4)"
    disarmed = (
        "kwire quorum forget 5 --disarm",
        f"leave it: it holds no feature back any more, {goes}",
    )
    for features, steps in (
        (OLD, disarmed),
        (voters, (f"leave it: it holds no feature back, {goes}",)),
    ):
        found = list(
            check(healthy(image=image_of([*present, registered(5, features)], [], level=19)))
        )
        assert [finding.fixes[1].steps for finding in found] == [steps] * len(found)
        assert len(found) == (2 if features is OLD else 1)


def test_it_is_disarmed_before_the_level_that_can_forget_it() -> None:
    found = check(healthy(image=image_of([*PRESENT, registered(5, OLD)], [], level=19)))
    assert {finding.fixes[1].steps for finding in found} == {
        (
            "kwire quorum forget 5 --disarm",
            "kwire features upgrade metadata.version=33",
            "kwire quorum forget 5",
        )
    }


def test_a_fenced_broker_of_an_old_version_blocks_as_well() -> None:
    brokers = [broker(11, LATEST), broker(12, OLD, fenced=True)]
    findings = list(check(healthy(image=image_of(PRESENT, brokers, level=19))))
    assert {finding.id for finding in findings} == {"registrations/blocks-upgrade"}
    assert any("broker 12 is registered" in finding.sentence for finding in findings)


def test_an_observer_that_fetches_is_not_stale() -> None:
    quorum = quorum_info(map(replica, (1, 2, 3)), [replica(5)])
    image = image_of([*PRESENT, registered(5, LATEST)], [])
    assert [f.id for f in check(healthy(quorum, image=image))] == ["registrations/ok"]


def test_an_observer_that_stopped_fetching_is_stale_before_the_leader_forgets_it() -> None:
    quorum = quorum_info(map(replica, (1, 2, 3)), [replica(5, silent_ms=60_000, behind_ms=60_000)])
    image = image_of([*PRESENT, registered(5, LATEST)], [])
    assert [f.id for f in check(healthy(quorum, image=image))] == ["registrations/stale"]


def test_a_voter_without_registration_is_named_where_there_are_registrations() -> None:
    (finding,) = check(healthy(image=image_of(PRESENT[:2], [])))
    assert finding.sentence == "voter 3 is not registered"
    (fine,) = check(healthy(image=image_of([], [], level=14)))
    assert fine.sentence.startswith("no controller is registered, and metadata.version 14")
