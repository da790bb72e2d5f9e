"""`kwire features`: Kafka's columns from one request, levels before and after a change."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.codec.declaration import Response
from kwire.messages import a57_update_features as update
from kwire.messages.a18_api_versions import (
    ApiVersionsRequest,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from scripted_node import Script, api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster

ACCEPTED = update.UpdateFeaturesResponse()


def always(response: Response) -> Script:
    return lambda request: response


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster() as brokers:
        scripts = brokers.nodes[0].scripts
        scripts[update.UpdateFeaturesRequest] = always(ACCEPTED)
        offered = api_versions(ApiVersionsRequest, *scripts)
        offered.supported_features = [
            SupportedFeatureKey(name="metadata.version", min_version=7, max_version=99),
            SupportedFeatureKey(name="group.version", min_version=0, max_version=1),
        ]
        offered.finalized_features = [
            FinalizedFeatureKey(name="metadata.version", min_version_level=7, max_version_level=30),
            FinalizedFeatureKey(name="strange", min_version_level=1, max_version_level=2),
        ]
        offered.finalized_features_epoch = 11
        scripts[ApiVersionsRequest] = always(offered)
        yield brokers


def sent(cluster: ScriptedBrokers) -> update.UpdateFeaturesRequest:
    [request] = cluster.nodes[0].requests(update.UpdateFeaturesRequest)
    return cast(update.UpdateFeaturesRequest, request)


def test_a_description_is_one_request_in_kafkas_columns(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("features", "describe", *at(cluster))
    assert [line.split() for line in run.out.splitlines()] == [
        ["Feature", "SupportedMinVersion", "SupportedMaxVersion", "FinalizedVersionLevel", "Epoch"],
        ["group.version", "0", "1", "0", "11"],
        ["metadata.version", "3.3-IV3", "UNKNOWN", "99", "4.3-IV0", "11"],
        ["strange", "-", "-", "2", "11"],
    ]
    assert [type(frame.body) for frame in cluster.nodes[0].asked] == [ApiVersionsRequest]


def test_levels_are_numbers_in_json(kwire: Command, cluster: ScriptedBrokers) -> None:
    rows = kwire("features", "describe", "--node", "0", "--json", *at(cluster)).json["features"]
    assert rows[1] == {
        "feature": "metadata.version",
        "supportedMinVersion": "3.3-IV3",
        "supportedMaxVersion": "UNKNOWN 99",
        "finalizedVersionLevel": "4.3-IV0",
        "epoch": 11,
        "supportedMinLevel": 7,
        "supportedMaxLevel": 99,
        "finalizedLevel": 30,
    }


def test_a_broker_is_not_taken_for_a_controller(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("features", "describe", "--bootstrap-controller", cluster.addresses[0])
    assert (run.code, "is a broker, not a controller" in run.error) == (1, True)


def test_an_upgrade_shows_levels_before_and_after(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire(
        *("features", "upgrade", "metadata.version=4.4-IV0", "--feature", "group.version=1"),
        *("--dry-run", "--json", *at(cluster)),
    )
    assert (run.code, run.json["dryRun"]) == (0, True)
    levels = [(row["feature"], row["from"], row["to"]) for row in run.json["features"]]
    assert levels == [("metadata.version", "4.3-IV0", "4.4-IV0"), ("group.version", "0", "1")]
    assert sent(cluster).validate_only
    assert [
        (key.feature, key.max_version_level, key.upgrade_type)
        for key in sent(cluster).feature_updates
    ] == [
        ("metadata.version", 31, 1),
        ("group.version", 1, 1),
    ]


def test_a_release_says_every_level_and_an_upgrade_leaves_out_zeros(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    # The levels are those of `kafka-features version-mapping --release-version 4.0` of Kafka 4.3.1.
    kwire("features", "upgrade", "--release-version", "4.0", *at(cluster))
    levels = {key.feature: key.max_version_level for key in sent(cluster).feature_updates}
    assert levels == {
        "metadata.version": 25,
        "kraft.version": 1,
        "transaction.version": 2,
        "group.version": 1,
    }


def test_a_refusal_is_the_outcome_of_every_feature(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    refused = update.UpdateFeaturesResponse(error_code=95, error_message="no")
    cluster.nodes[0].scripts[update.UpdateFeaturesRequest] = always(refused)
    run = kwire("features", "downgrade", "a=1", "b=0", "--json", *at(cluster))
    rows = [(row["feature"], row["error"], row["message"]) for row in run.json["features"]]
    assert run.code == 1
    assert rows == [("a", "INVALID_UPDATE_VERSION", "no"), ("b", "INVALID_UPDATE_VERSION", "no")]
    assert [key.upgrade_type for key in sent(cluster).feature_updates] == [2, 2]


def test_an_unsafe_downgrade_asks(kwire: Command, cluster: ScriptedBrokers) -> None:
    disable = ("features", "disable", "group.version", "--unsafe", *at(cluster))
    run = kwire(*disable)
    assert run.code == 2
    assert "Lower group.version to 0, even if metadata is lost for good?" in run.error
    assert kwire(*disable, "--yes").code == 0
    assert [(k.max_version_level, k.upgrade_type) for k in sent(cluster).feature_updates] == [
        (0, 3)
    ]


def test_mapping_and_dependencies_ask_no_cluster(kwire: Command) -> None:
    # As kafka-features of Kafka 4.3.1 prints them.
    mapping = kwire("features", "version-mapping", "--release-version", "3.9", "--json").json
    assert {row["feature"]: row["level"] for row in mapping["features"]} == {
        "metadata.version": 21,
        "kraft.version": 1,
        "transaction.version": 0,
        "group.version": 0,
        "eligible.leader.replicas.version": 0,
        "share.version": 0,
        "streams.version": 0,
    }
    levels = ("eligible.leader.replicas.version=1", "metadata.version=30", "group.version=1")
    rows = kwire("features", "feature-dependencies", *levels, "--json").json["features"]
    assert [row["requires"] for row in rows] == [{"metadata.version": "4.0-IV1"}, {}, {}]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["upgrade"], "name a feature"),
        (["upgrade", "a=1", "--feature", "a=2"], "a is given more than once."),
        (["upgrade", "a"], "'a' is no level of a feature: write FEATURE=LEVEL."),
        (["upgrade", "a=40000"], "'a=40000' is no level"),
        (["upgrade", "--metadata", "9.9"], "no metadata.version is called '9.9'"),
        (["upgrade", "a=1", "--release-version", "4.0"], "give no other."),
        (["feature-dependencies", "a=1"], "feature 'a' is not known"),
        (["feature-dependencies", "group.version=7"], "has the levels 0 to 1, not 7."),
    ],
)
def test_wrong_usage_is_exit_code_2(kwire: Command, words: list[str], sentence: str) -> None:
    bootstrap = () if "dependencies" in words[0] else ("--bootstrap-server", "localhost:1")
    run = kwire("features", *words, *bootstrap)
    assert (run.code, sentence in run.error) == (2, True), run.error
