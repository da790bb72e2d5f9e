"""Breaks of `controllers/kip-919/apis`."""

from breaking import Break, answers_end, changes
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.registry import api_key


def _offer_produce(response: ApiVersionsResponse) -> None:
    produce = ApiVersion(api_key=api_key("Produce"), min_version=0, max_version=9)
    response.api_keys.append(produce)


def _keep_describe_cluster(response: ApiVersionsResponse) -> None:
    kept = (api_key("DescribeCluster"), api_key("ApiVersions"))
    response.api_keys = [api for api in response.api_keys if api.api_key in kept]


BREAKS: dict[int, Break] = {
    1: changes(ApiVersionsRequest, _offer_produce),
    3: changes(ApiVersionsRequest, _keep_describe_cluster),
    4: answers_end(),
    5: answers_end(),
}
