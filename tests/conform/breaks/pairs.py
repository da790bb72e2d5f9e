"""Breaks of `pairs/answers`."""

from breaking import Break, answers_end, changes, closes_on, gives_error, raw, sets
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest

DIFFERS = ConformanceVerdict.DIFFERS

BREAKS: dict[int, Break] = {
    1: raw(DescribeQuorumRequest, lambda frame: frame + b"\0"),
    2: closes_on(DescribeQuorumRequest, only_for=lambda request: request.number == 2),
    3: changes(
        ApiVersionsRequest,
        sets("throttle_time_ms", -1),
        only_for=lambda request: request.version > 0,
    ),
    4: gives_error(DescribeQuorumRequest, 9999, verdict=DIFFERS),
    5: gives_error(DescribeQuorumRequest, -1),
    6: closes_on(None, only_for=lambda request: request.frame.endswith(b"\x05kwire")),
    7: closes_on(None, only_for=lambda request: b"\x05kwire" in request.frame),
    8: closes_on(None, only_for=lambda request: request.frame.endswith(b"kwire"), verdict=DIFFERS),
    9: answers_end(),
}
