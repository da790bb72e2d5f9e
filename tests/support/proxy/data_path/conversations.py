"""Conversations that two dialogues have alike, frame by frame, cut at the same places."""

from collections.abc import Iterator
from typing import Any

from kwire.proxy import Copies, Direction, Flow, Interest
from kwire.proxy.data_path.copies import MEMORY_LIMIT
from tests.support.proxy.data_path.moving_dialogue import MovingDialogue, is_counted, tally
from tests.support.proxy.dialogue import Dialogue

ASK, ANSWER, REPLY = "ask", "answer", "reply"
"""Bytes from the client; from the node; the right response to the request that waits longest."""

WHOLE = 300
"""A cut from which on all that waits is sent."""


def request(key: int, version: int, correlation: int, client: str | None, body: bytes) -> bytes:
    """A request frame, whether or not there is such a request."""
    text = b"" if client is None else client.encode()
    length = (-1 if client is None else len(text)).to_bytes(2, "big", signed=True)
    head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    frame = head + correlation.to_bytes(4, "big", signed=True) + length + text + body
    return len(frame).to_bytes(4, "big") + frame


def response(correlation: int, body: bytes) -> bytes:
    """A response frame."""
    frame = correlation.to_bytes(4, "big", signed=True) + body
    return len(frame).to_bytes(4, "big") + frame


FIRST = request(18, 9, 0, "me", b"")
"""A connection is moved when it is known who the client is."""


Step = tuple[str, bytes]
"""A speaker, and the bytes that it says."""


def compare(
    steps: list[Step],
    cuts: list[int],
    interests: dict[tuple[int, Direction], Interest],
    copy_limit: int,
    memory_limit: int = MEMORY_LIMIT,
) -> int:
    """Have C and Python follow the same, and assert that they pass and tell the same.

    interests: by API key and direction; all else is counted. copy_limit, memory_limit: bytes of one
    copy, and of all. Returns how often C gave back.
    """

    def wants(key: int, version: int, direction: Direction) -> Interest:
        return interests.get((key, direction), Interest.COUNT)

    python = Dialogue(wants=wants, copies=Copies(copy_limit, memory_limit), limit=20_000)
    moving = MovingDialogue(wants=wants, copies=Copies(copy_limit, memory_limit), limit=20_000)
    talk(steps, cuts, python, moving)
    assert moving.at_node == python.at_node
    assert moving.at_client == python.at_client
    assert list(told(moving)) == list(told(python))
    assert tally(moving) == tally(python)
    assert moving.connection.paired == python.connection.paired
    assert moving.connection.peer == python.connection.peer
    assert moving.copies.held == python.copies.held == 0
    assert moving.copies.dropped == python.copies.dropped
    return moving.back


def pending(dialogue: Dialogue) -> int | None:
    """Return the correlation id of the request that waits longest."""
    flow = dialogue.pairing.first
    return None if flow is None else flow.correlation_id


def talk(steps: list[Step], places: list[int], *dialogues: Dialogue) -> None:
    """Have both dialogues say the same, cut at the same places. The first one decides replies."""
    for dialogue in dialogues:
        dialogue.ask(FIRST)
    waiting = {ASK: b"", ANSWER: b""}
    for number, (kind, data) in enumerate(steps):
        for dialogue in dialogues:
            if isinstance(dialogue, MovingDialogue):
                dialogue.move()
        if kind == REPLY:
            correlation = pending(dialogues[0])
            kind, data = ANSWER, b"" if correlation is None else response(correlation, data)
        waiting[kind] += data
        cut = places[number % len(places)]
        chunk = waiting[kind] if cut > WHOLE else waiting[kind][:cut]
        waiting[kind] = waiting[kind][len(chunk) :]
        for dialogue in dialogues:
            (dialogue.ask if kind == ASK else dialogue.answer)(chunk)
    for dialogue in dialogues:
        dialogue.ask(waiting[ASK])
        dialogue.answer(waiting[ANSWER])
        dialogue.hang_up()


def told(dialogue: Dialogue) -> Iterator[tuple[Any, ...]]:
    """Yield everything that the sinks were told, but for flows that are only counted."""
    for event in dialogue.events:
        if not isinstance(event, Flow):
            yield event.at, event.kind, event.text
        elif not is_counted(dialogue, event):
            yield (
                *(event.key, event.version, event.correlation_id, event.client_id, event.at),
                *(event.asked, event.request_size, event.answered, event.response_size),
                *(event.request_copy, event.response_copy, event.outcome, tuple(event.problems)),
            )
