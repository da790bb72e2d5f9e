"""Breaks of `features/kip-584`."""

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a57_update_features import UpdateFeaturesRequest

_UPDATED = gives_error(UpdateFeaturesRequest, 0)


def _after_the_first(request: SeenRequest) -> bool:
    return request.number > 1


def _drop_levels(response: ApiVersionsResponse) -> None:
    response.finalized_features = []


BREAKS: dict[int, Break] = {
    1: changes(ApiVersionsRequest, sets("finalized_features[*].max_version_level", 30_000)),
    2: changes(ApiVersionsRequest, _drop_levels),
    3: changes(ApiVersionsRequest, sets("finalized_features_epoch", 0), only_for=_after_the_first),
    4: changes(ApiVersionsRequest, sets("supported_features[0].min_version", 0), only_for=3),
    **dict.fromkeys(range(5, 13), _UPDATED),
    13: gives_error(UpdateFeaturesRequest, 95),
}
