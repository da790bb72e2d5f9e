"""The controller takes every vote and never says anything: what a node that hangs looks like."""

from kwire.messages.a52_vote import VoteRequest
from kwire.proxy import Call, Filter, Stall


class HangingController(Filter):
    def on_vote_request(self, request: VoteRequest, call: Call) -> Stall:
        return Stall()
