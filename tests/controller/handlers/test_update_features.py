"""UpdateFeatures, after Kafka's FeatureControlManagerTest."""

from typing import Any

import pytest

from kwire.controller.handlers.result import KRaftVersionRequest, QuorumView
from kwire.error_codes import ErrorCode
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.metadata_versions import (
    ELIGIBLE_LEADER_REPLICAS,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
)
from tests.support.controller.handlers.registrations import (
    register,
    update,
)

UPGRADE, SAFE, UNSAFE = 1, 2, 3


def test_a_feature_is_raised_and_lowered(lab: Any) -> None:
    assert update(lab, "group.version", 1) == (0, "")
    assert lab.image.features.level("group.version") == 1
    assert update(lab, "group.version", 0, SAFE) == (0, "")
    assert lab.image.features.level("group.version") == 0


@pytest.mark.parametrize(
    ("name", "level", "kind", "reason"),
    [
        ("group.version", 1, 9, "9 is not a type of update"),
        ("group.version", -1, SAFE, "levels begin at 0"),
        ("group.version", 7, UPGRADE, "controller 3000 supports 0-1"),
        ("nonsense", 1, UPGRADE, "controller 3000 supports 0"),
        ("nonsense", 0, UNSAFE, "there is no such feature"),
        ("group.version", 1, SAFE, "which a downgrade cannot raise"),
        (METADATA_VERSION, 29, UPGRADE, "is at 30"),
        (METADATA_VERSION, 29, SAFE, "from 4.3-IV0 to 4.2-IV1 metadata might be lost"),
        (METADATA_VERSION, 29, UNSAFE, "metadata might be lost"),
        (METADATA_VERSION, 34, UPGRADE, "supports 7-33"),
        (METADATA_VERSION, 6, SAFE, "supports 7-33"),
    ],
)
def test_a_level_that_cannot_be_is_refused(
    lab: Any, name: str, level: int, kind: int, reason: str
) -> None:
    before = lab.end_offset

    code, message = update(lab, name, level, kind)

    assert code == ErrorCode.INVALID_UPDATE_VERSION
    assert reason in message
    assert lab.end_offset == before


def test_each_update_is_told_by_name_that_it_went_well_and_version_0_lowers_nothing(
    lab: Any,
) -> None:
    """As by Kafka 4.3.1 and 4.4.0: AllowDowngrade is not looked at."""
    up = FeatureUpdateKey(feature="group.version", max_version_level=1)
    twice = UpdateFeaturesRequest(feature_updates=[up, up])
    for version in (0, 1):
        results = lab.ask(twice, version).results
        expected = [("group.version", 0, "NONE")] * 2
        assert [(r.feature, r.error_code, r.error_message) for r in results] == expected
    down = up.replace(max_version_level=0, allow_downgrade=True)
    answer = lab.ask(UpdateFeaturesRequest(feature_updates=[down]), 0)
    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert lab.image.features.level("group.version") == 1


def test_metadata_version_is_lowered_where_nothing_can_be_lost(make_lab: Any) -> None:
    lab = make_lab(level=29)

    assert update(lab, METADATA_VERSION, 24, SAFE) == (0, "")
    assert lab.image.features.metadata_version.level == 24


def test_a_feature_may_need_a_metadata_version(make_lab: Any) -> None:
    lab = make_lab(level=22)
    assert update(lab, METADATA_VERSION, 26)[0] == ErrorCode.NONE
    assert FEATURES[ELIGIBLE_LEADER_REPLICAS].needs == {1: 23}


def test_a_broker_that_does_not_support_a_level_holds_it_back(lab: Any) -> None:
    lab.start(1)

    code, message = update(lab, "group.version", 1)

    assert (code, "broker 1 supports 0" in message) == (ErrorCode.INVALID_UPDATE_VERSION, True)


def test_a_controller_that_does_not_support_a_level_holds_it_back(lab: Any) -> None:
    register(lab, 3001, **{"group.version": (0, 0)})

    assert "controller 3001 supports 0" in update(lab, "group.version", 1)[1]


def test_a_voter_that_has_not_registered_holds_every_level_back(lab: Any) -> None:
    lab.controller.quorum = QuorumView(leader_id=3000, voter_ids=frozenset({3000, 3001}))

    assert "controller 3001 has not registered" in update(lab, "group.version", 1)[1]
    register(lab, 3001)
    assert update(lab, "group.version", 1)[0] == ErrorCode.NONE


def test_kraft_version_is_left_to_raft(lab: Any) -> None:
    """KIP-853."""
    key = FeatureUpdateKey(feature=KRAFT_VERSION, max_version_level=1)

    answer = lab.answer(UpdateFeaturesRequest(feature_updates=[key]))

    assert answer.kraft_version == KRaftVersionRequest(level=1, validate_only=False)
    only = UpdateFeaturesRequest(feature_updates=[key], validate_only=True)
    assert lab.answer(only).kraft_version == KRaftVersionRequest(level=1, validate_only=True)
    lab.controller.quorum = QuorumView(kraft_version=1)
    assert update(lab, KRAFT_VERSION, 0, SAFE)[0] == ErrorCode.INVALID_UPDATE_VERSION


def test_nothing_is_written_before_raft_agrees_and_then_a_no_op_record_is_waited_for(
    lab: Any,
) -> None:
    groups = FeatureUpdateKey(feature="group.version", max_version_level=1)
    kraft = FeatureUpdateKey(feature=KRAFT_VERSION, max_version_level=1)
    both = UpdateFeaturesRequest(feature_updates=[groups, kraft])

    assert lab.answer(both).records == ()
    lab.controller.quorum = QuorumView(kraft_version=1)
    agreed = lab.answer(both)

    written = [type(record.record).__name__ for record in agreed.records]
    assert (written, agreed.kraft_version) == (["FeatureLevelRecord", "NoOpRecord"], None)
    same = kraft.replace(upgrade_type=SAFE)
    assert lab.answer(UpdateFeaturesRequest(feature_updates=[same])).records == ()


def test_an_update_is_all_or_nothing_and_may_only_validate(lab: Any) -> None:
    before = lab.end_offset
    good = FeatureUpdateKey(feature="group.version", max_version_level=1)
    bad = FeatureUpdateKey(feature="share.version", max_version_level=9)

    response = lab.ask(UpdateFeaturesRequest(feature_updates=[good, bad]))
    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert update(lab, "group.version", 1, validate_only=True)[0] == ErrorCode.NONE
    assert lab.end_offset == before


@pytest.mark.parametrize("level", [-1, -32768, 32767])
def test_another_feature_beside_a_level_that_is_none_is_refused(lab: Any, level: int) -> None:
    groups = FeatureUpdateKey(feature="group.version", max_version_level=1)
    none = FeatureUpdateKey(feature=METADATA_VERSION, max_version_level=level)
    response = lab.ask(UpdateFeaturesRequest(feature_updates=[groups, none]))
    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
