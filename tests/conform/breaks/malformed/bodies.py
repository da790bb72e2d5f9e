"""Breaks of `malformed/body`."""

from breaking import Break, answers_end, closes_on, silent_on
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

DIFFERS = ConformanceVerdict.DIFFERS

BREAKS: dict[int, Break] = {
    **{number: answers_end() for number in range(1, 6)},
    6: closes_on(DescribeClusterRequest, verdict=DIFFERS),
    7: closes_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
    8: closes_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
    9: answers_end(),
    10: answers_end(),
    11: silent_on(ApiVersionsRequest, only_for=3),
    12: closes_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
    13: silent_on(ApiVersionsRequest, only_for=3),
}
