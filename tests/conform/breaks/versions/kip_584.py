"""Breaks of `versions/kip-584`."""

from collections.abc import Callable
from typing import Any

from breaking import Break, SeenRequest, changes, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest


def breaks(
    path: str,
    value: Any,
    only_for: int | Callable[[SeenRequest], bool] | None = None,
    verdict: ConformanceVerdict = ConformanceVerdict.FAIL,
) -> Break:
    """Return a break of one field of the answer."""
    return changes(ApiVersionsRequest, sets(path, value), only_for=only_for, verdict=verdict)


def _has_features(request: SeenRequest) -> bool:
    return request.version > 2


BREAKS: dict[int, Break] = {
    1: breaks("supported_features", lambda features: features + features[:1]),
    2: breaks("finalized_features", lambda features: features + features[:1]),
    3: breaks("supported_features[0].max_version", -1, _has_features),
    4: breaks("finalized_features[0].min_version_level", 0, _has_features),
    5: breaks("finalized_features[0].max_version_level", 99, _has_features),
    # Not one less than it was: the cluster's own epoch may have grown by that since the second one.
    6: breaks("finalized_features_epoch", 0, lambda request: request.number == 3),
    7: breaks("finalized_features_epoch", -1),
    8: breaks("finalized_features[0].max_version_level", 99, 3),
    9: breaks("supported_features[0].min_version", 0, 3),
    10: breaks("supported_features", lambda features: features[:1], lambda r: r.version > 3),
    11: breaks("finalized_features", []),
}
