"""Breaks of `frames/delivery`."""

from breaking import Break, RelayAction, closes_on, closes_on_chunk, keeps_open, reorders
from kwire.conform.vocabulary import ConformanceVerdict
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a18_api_versions import ApiVersionsRequest

BREAKS: dict[int, Break] = {
    1: closes_on_chunk(lambda chunk: len(chunk) == 1),
    2: reorders(),
    3: closes_on_chunk(lambda chunk: len(chunk) == 20),
    4: reorders(ApiVersionsRequest),
    5: reorders(FetchRequest),
    6: keeps_open(verdict=ConformanceVerdict.DIFFERS),
    7: closes_on(ApiVersionsRequest),
    8: Break(on_chunk=lambda chunk: RelayAction.DIE if len(chunk) == 7 else None),
}
