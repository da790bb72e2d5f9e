"""A filter that wants everything, for the tests of what filters must not change."""

from kwire.codec.declaration import Request, Response
from kwire.proxy import Call, Filter


class ObservingFilter(Filter):
    """Sees everything and changes nothing. forwarded: names of what came in an Envelope."""

    def __init__(self) -> None:
        self.seen: list[Request | Response] = []
        self.forwarded: set[str] = set()

    def on_request(self, request: Request, call: Call) -> None:
        self._see(request, call)

    def on_response(self, response: Response, call: Call) -> None:
        self._see(response, call)

    def _see(self, message: Request | Response, call: Call) -> None:
        self.seen.append(message)
        if call.envelope is not None:
            self.forwarded.add(type(message).__name__)
