"""Headers, and tagged fields that a client does not know (KIP-482, KIP-511)."""

from __future__ import annotations

import re
from typing import Any

from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import NodeReply, Turn, inner_parts, once
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Skipped, kip
from kwire.messages import ApiVersionsRequest
from kwire.net.frames import response_header_version

SECTION = ClientSection("client/headers", "Headers, and tagged fields that nobody knows yet")

_TAG, _LATER = 10_000, b"later"
_TAGS = b"\x01\x90\x4e\x05" + _LATER
"""The tagged field as a header has it: the number of fields, tag, size, bytes."""


def _header_tagged(turn: Turn) -> NodeReply:
    usual = turn.usual_reply()
    key = type(turn.request.body).key or 0
    if not usual.data or response_header_version(key, turn.request.version) == 0:
        return usual
    # Behind size and correlation id stands the empty tag section.
    data = usual.data[4:8] + _TAGS + usual.data[9:]
    return NodeReply(data=len(data).to_bytes(4, "big") + data, delay=usual.delay)


def _body_tagged(turn: Turn) -> NodeReply:
    ask = turn.ordinary()
    if turn.request.version in type(turn.request.body).flexible:
        _tag(ask.answer)
    return NodeReply(data=b"" if ask.no_answer else turn.framed(ask.answer), delay=ask.wait)


def _tag(part: Any) -> None:
    part.unknown_tags = {_TAG: _LATER}
    for inner in inner_parts(part):
        _tag(inner)


def _met_tags(play: Play) -> None:
    read = [request for request in play.requests if request.body is not None]
    if not any(request.version in type(request.body).flexible for request in read):
        raise Skipped("the client sends no flexible version")


for number, task in enumerate(ClientTask, 1):
    for base, place, action in ((0, "headers", _header_tagged), (20, "bodies", _body_tagged)):
        SECTION[base + number] = ClientCase(
            sentence=f"In the task {task.value} a client passes over tagged fields in the {place} "
            "of responses.",
            source=kip(482, "Tagged Fields"),
            task=task,
            rules=once(None, action, times=None),
            judge=_met_tags,
        )


@SECTION.case(41, kip(511, "Public Interfaces"), ClientTask.PRODUCE)
def _(play: Play) -> None:
    "The name and the version of the client's software are words of letters, digits, - and dots."
    told = [r.body for r in play.demand(ApiVersionsRequest) if r.version >= 3 and r.body]
    if not told:
        raise Skipped("the client has no ApiVersions v3")
    for body in told:
        for text in (body.client_software_name, body.client_software_version):
            word = re.fullmatch(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", text)
            expect(word, "a word", repr(text))
