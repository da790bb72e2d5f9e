"""Drop every tenth response to a Fetch."""

from kwire.messages.a01_fetch import FetchResponse
from kwire.proxy import Call, Drop, Filter


class LoseEveryTenth(Filter):
    count = 0

    def on_fetch_response(self, response: FetchResponse, call: Call) -> Drop | None:
        self.count += 1
        return Drop() if self.count % 10 == 0 else None
