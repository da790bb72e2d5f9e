"""Breaks of `versions/kip-35`."""

from breaking import Break, answers_end, changes, closes_on, gives_error, raw, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest

BREAKS: dict[int, Break] = {
    1: gives_error(ApiVersionsRequest, 42, only_for=1),
    2: changes(
        ApiVersionsRequest, sets("api_keys", lambda apis: [a for a in apis if a.api_key != 18])
    ),
    3: changes(ApiVersionsRequest, sets("api_keys", lambda apis: apis + apis[:1])),
    4: changes(ApiVersionsRequest, sets("api_keys[0].max_version", -1)),
    5: changes(
        ApiVersionsRequest,
        sets("api_keys", lambda apis: apis[::-1]),
        verdict=ConformanceVerdict.DIFFERS,
    ),
    6: changes(
        ApiVersionsRequest, sets("api_keys[1].max_version", lambda last: last + 1), only_for=1
    ),
    7: changes(
        ApiVersionsRequest,
        sets("api_keys", lambda apis: apis[1:]),
        only_for=lambda request: request.number > 1,
    ),
    9: raw(ApiVersionsRequest, lambda frame: frame[:4] + b"\0" + frame[4:], only_for=3),
    10: closes_on(DescribeQuorumRequest),
    11: answers_end(),
    12: answers_end(),
    13: answers_end(),
}
