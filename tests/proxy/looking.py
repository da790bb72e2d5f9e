"""A filter that wants everything, for the tests of what filters must not change."""

from kwire.declaration import Request, Response
from proxy import Call, Filter


class Look(Filter):
    """Sees everything and changes nothing."""

    def __init__(self) -> None:
        self.seen: list[Request | Response] = []

    def on_request(self, request: Request, call: Call) -> None:
        self.seen.append(request)

    def on_response(self, response: Response, call: Call) -> None:
        self.seen.append(response)
