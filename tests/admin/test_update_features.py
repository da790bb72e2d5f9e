"""UpdateFeatures: each version's way to say what is allowed, and each version's way to refuse."""

import asyncio
from typing import cast

import pytest

from kwire.admin import AdminClient, NoReachableLeader
from kwire.admin.errors import OutcomeUnknown
from kwire.admin.features import FeatureUpdate, UpgradeType
from kwire.codec.declaration import Response
from kwire.errors import InvalidValue, KwireError, UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from scripted_node import Script, api_versions
from scripted_quorum import ScriptedQuorum, scripted_quorum

RAISE = {"a": FeatureUpdate(level=2)}
UNSAFE = FeatureUpdate(level=0, upgrade_type=UpgradeType.UNSAFE_DOWNGRADE)


def client(quorum: ScriptedQuorum) -> AdminClient:
    return AdminClient(bootstrap_controllers=quorum.addresses(), timeout=60)


def always(response: Response) -> Script:
    return lambda request: response


def scripted(quorum: ScriptedQuorum, version: int, answer: UpdateFeaturesResponse) -> None:
    """Have the leader answer so, others NOT_CONTROLLER, in no higher version than this."""
    for index, node in enumerate(quorum.nodes):
        response = answer if index == quorum.leading else UpdateFeaturesResponse(error_code=41)

        node.scripts[UpdateFeaturesRequest] = always(response)
        node.scripts[ApiVersionsRequest] = always(
            api_versions(*node.scripts, UpdateFeatures=(0, version))
        )


def sent(quorum: ScriptedQuorum) -> UpdateFeaturesRequest:
    [request] = quorum.nodes[quorum.leading].requests(UpdateFeaturesRequest)
    return cast(UpdateFeaturesRequest, request)


async def test_one_answer_speaks_for_all_features_since_version_2() -> None:
    async with scripted_quorum(3) as three, client(three) as admin:
        three.leading = 2
        scripted(three, 2, UpdateFeaturesResponse())
        outcomes = await admin.update_features(RAISE | {"b": UNSAFE}, validate_only=True)
        assert sent(three).feature_updates == [
            FeatureUpdateKey(feature="a", max_version_level=2, upgrade_type=1),
            FeatureUpdateKey(feature="b", max_version_level=0, upgrade_type=3),
        ]
        assert sent(three).validate_only
        assert outcomes.all() == {"a": None, "b": None}
        scripted(three, 2, UpdateFeaturesResponse(error_code=95, error_message="b is wrong"))
        refused = await admin.update_features(RAISE | {"b": UNSAFE})
    assert {name: str(error) for name, error in refused.failed.items()} == {
        "a": "INVALID_UPDATE_VERSION: b is wrong",
        "b": "INVALID_UPDATE_VERSION: b is wrong",
    }


async def test_each_feature_has_its_own_result_before_version_2() -> None:
    results = [
        UpdatableFeatureResult(feature="a"),
        UpdatableFeatureResult(feature="b", error_code=96, error_message="no"),
    ]
    async with scripted_quorum(1) as one, client(one) as admin:
        scripted(one, 1, UpdateFeaturesResponse(results=results))
        outcomes = await admin.update_features(RAISE | {"b": UNSAFE, "left out": UNSAFE})
    assert [*outcomes] == ["a"]
    assert str(outcomes.failed["b"]) == "FEATURE_UPDATE_FAILED: no"
    assert "left left out out of its answer" in str(outcomes.failed["left out"])


async def test_a_feature_that_is_left_out_fails_at_once_also_after_another_controller() -> None:
    results = [UpdatableFeatureResult(feature="a")]
    async with scripted_quorum(3) as three, client(three) as admin, asyncio.timeout(60):
        three.leading = 2
        scripted(three, 1, UpdateFeaturesResponse(results=results))
        outcomes = await admin.update_features(RAISE | {"b": UNSAFE})
        assert three.nodes[0].requests(UpdateFeaturesRequest)
    assert [*outcomes] == ["a"]
    assert "left b out of its answer" in str(outcomes.failed["b"])


async def test_version_0_only_knows_whether_a_downgrade_is_allowed() -> None:
    results = [UpdatableFeatureResult(feature="a"), UpdatableFeatureResult(feature="b")]
    async with scripted_quorum(1) as one, client(one) as admin:
        scripted(one, 0, UpdateFeaturesResponse(results=results))
        await admin.update_features(RAISE | {"b": UNSAFE})
        assert sent(one).feature_updates == [
            FeatureUpdateKey(feature="a", max_version_level=2, allow_downgrade=False),
            FeatureUpdateKey(feature="b", max_version_level=0, allow_downgrade=True),
        ]


async def test_a_node_that_cannot_only_validate_is_not_asked_to_update() -> None:
    async with scripted_quorum(1) as one, client(one) as admin:
        scripted(one, 0, UpdateFeaturesResponse())
        with pytest.raises(UnsupportedVersion, match="older than Kafka"):
            (await admin.update_features(RAISE, validate_only=True)).all()
        assert not one.nodes[0].requests(UpdateFeaturesRequest)


@pytest.mark.parametrize("nothing", [{}, {" ": FeatureUpdate(level=1)}])
async def test_no_feature_is_refused(nothing: dict[str, FeatureUpdate]) -> None:
    async with AdminClient(bootstrap_controllers="localhost:1") as admin:
        with pytest.raises(InvalidValue, match="name at least one feature"):
            await admin.update_features(nothing)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("This controller is not the active one any more.", OutcomeUnknown),
        ("No controller appears to be active.", OutcomeUnknown),
        ("This controller is not the active one.", NoReachableLeader),
        ("The active controller appears to be node 3000.", NoReachableLeader),
    ],
)
async def test_what_a_controller_may_have_written_when_it_stopped_leading_is_unknown(
    text: str, error: type[KwireError]
) -> None:
    """Java: QuorumController.renounce fails with NOT_CONTROLLER what is not committed yet."""
    async with scripted_quorum(1) as one:
        scripted(one, 2, UpdateFeaturesResponse(error_code=41, error_message=text))
        async with AdminClient(bootstrap_controllers=one.addresses(), timeout=1) as admin:
            try:
                found: KwireError = (await admin.update_features(RAISE)).failed["a"]
            except NoReachableLeader as nobody:
                found = nobody
    assert type(found) is error
    assert ("may have been carried out" in str(found)) == (error is OutcomeUnknown)
