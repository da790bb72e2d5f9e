"""Breaks of `frames/header`."""

from breaking import Break, SeenRequest, answers_end, closes_on, raw, silent_on
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest

DIFFERS = ConformanceVerdict.DIFFERS


def made_by_hand(request: SeenRequest) -> bool:
    """True for a request without the client id that checks have."""
    return b"kwire-conform" not in request.frame


BREAKS: dict[int, Break] = {
    1: raw(ApiVersionsRequest, lambda frame: bytes(4) + frame[4:]),
    2: raw(
        ApiVersionsRequest,
        lambda frame: bytes(4) + frame[4:],
        only_for=lambda request: request.number == 3,
    ),
    3: closes_on(ApiVersionsRequest, only_for=made_by_hand),
    4: closes_on(ApiVersionsRequest, only_for=made_by_hand),
    5: closes_on(ApiVersionsRequest, only_for=made_by_hand),
    6: closes_on(ApiVersionsRequest, only_for=made_by_hand, verdict=DIFFERS),
    7: closes_on(ApiVersionsRequest, only_for=made_by_hand, verdict=DIFFERS),
    8: answers_end(),
    9: closes_on(ApiVersionsRequest, only_for=3),
    10: closes_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
    11: closes_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
    **{number: answers_end() for number in range(12, 16)},
    16: silent_on(ApiVersionsRequest, only_for=3, verdict=DIFFERS),
}
