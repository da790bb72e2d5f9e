"""Negotiation of versions, given those of both sides."""

from importlib.metadata import version

import pytest

from kwire.errors import UnsupportedVersion
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.net.negotiation import SOFTWARE_VERSION, NodeApiVersions, VersionRange, fall_back
from scripted_node import api_versions


def node(**versions: tuple[int, int]) -> NodeApiVersions:
    return NodeApiVersions.of(api_versions(**versions))


@pytest.mark.parametrize(
    ("offered", "spoken"), [((0, 1), 1), ((0, 2), 2), ((1, 9), 2), ((2, 2), 2), ((-3, 0), 0)]
)
def test_the_highest_version_of_both_sides_is_spoken(offered: tuple[int, int], spoken: int) -> None:
    assert node(DescribeQuorum=offered).version_for(DescribeQuorumRequest) == spoken


@pytest.mark.parametrize("offered", [(3, 5), (2, 1)])
def test_no_version_in_common_names_both_ranges(offered: tuple[int, int]) -> None:
    with pytest.raises(UnsupportedVersion, match=rf"{offered[0]}-{offered[1]}.*0-2"):
        node(DescribeQuorum=offered).version_for(DescribeQuorumRequest)


def test_an_api_that_is_not_offered_is_named_with_our_versions() -> None:
    with pytest.raises(UnsupportedVersion, match=r"the node does not offer DescribeQuorum.*0-2"):
        node().version_for(DescribeQuorumRequest)


def test_an_old_node_that_lists_its_versions_is_asked_in_the_highest() -> None:
    assert fall_back(4, api_versions(ApiVersions=(0, 3))) == 3  # as Kafka 3.6.2 does


def test_an_older_node_that_lists_nothing_is_asked_in_version_0() -> None:
    assert fall_back(4, ApiVersionsResponse(error_code=35)) == 0


@pytest.mark.parametrize("asked", [0, 1])
def test_falling_back_ends_where_no_lower_version_is_left(asked: int) -> None:
    with pytest.raises(UnsupportedVersion):
        fall_back(asked, api_versions(ApiVersions=(asked, 4)))


def test_features_and_their_epoch_are_kept() -> None:
    from kwire.messages.a18_api_versions import FinalizedFeatureKey, SupportedFeatureKey

    response = ApiVersionsResponse(
        supported_features=[
            SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
        ],
        finalized_features=[
            FinalizedFeatureKey(name="kraft.version", min_version_level=1, max_version_level=1)
        ],
        finalized_features_epoch=11,
    )
    assert NodeApiVersions.of(response) == NodeApiVersions(
        api_versions={},
        supported_features={"kraft.version": VersionRange(0, 1)},
        finalized_features={"kraft.version": VersionRange(1, 1)},
        finalized_features_epoch=11,
    )


def test_an_epoch_of_minus_one_is_none() -> None:
    assert NodeApiVersions.of(ApiVersionsResponse()).finalized_features_epoch is None


def test_nodes_are_told_the_version_of_this_distribution() -> None:
    assert version("kwire") == SOFTWARE_VERSION
