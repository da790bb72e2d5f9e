"""Limit every fetch to 64 KiB, whatever the client asks for."""

from kwire.messages.a01_fetch import FetchRequest
from kwire.proxy import Call, Filter, at

LIMIT = 64 * 1024


class SmallFetches(Filter):
    @at("3+")
    def on_fetch_request(self, request: FetchRequest, call: Call) -> None:
        request.max_bytes = min(request.max_bytes, LIMIT)
