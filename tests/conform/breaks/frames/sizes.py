"""Breaks of `frames/size`."""

from breaking import Break, answers_end, closes_on, closes_on_chunk
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a18_api_versions import ApiVersionsRequest

BREAKS: dict[int, Break] = {
    **{number: answers_end() for number in range(1, 7)},
    7: closes_on_chunk(lambda chunk: len(chunk) == 13),
    8: closes_on_chunk(lambda chunk: len(chunk) == 2),
    9: closes_on_chunk(lambda chunk: len(chunk) == 9),
    10: closes_on(ApiVersionsRequest, only_for=3, verdict=ConformanceVerdict.DIFFERS),
}
