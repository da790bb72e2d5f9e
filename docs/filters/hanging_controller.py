"""Let the controller receive every Vote and answer none, like a node that hangs."""

from kwire.messages.a52_vote import VoteRequest
from kwire.proxy import Call, Filter, Stall


class HangingController(Filter):
    def on_vote_request(self, request: VoteRequest, call: Call) -> Stall:
        return Stall()
