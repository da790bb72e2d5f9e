"""Attacks on the data path in C: by what peers send, by what Python gives, by all at once.

Run plainly by tests/proxy/data_path/native/test_attack.py, under sanitizers by
tests/support/sanitize.py.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

from kwire.proxy import Direction, Interest
from kwire.proxy.data_path.moved import Moved, MovedFrames
from kwire.proxy.data_path.native_loop import care
from kwire.proxy.flows.latencies import BOUNDS
from tests.support.native_extensions import needs_extension
from tests.support.proxy.data_path.conversations import (
    ANSWER,
    ASK,
    REPLY,
    Step,
    compare,
    request,
    response,
)

with needs_extension():
    from kwire.proxy.data_path.native import Frames, Loop

CLIENTS = ("me", "me", "me", "me", "other", "7", "x" * 300, "", None)
KEYS = (0, 1, 1, 3, 3, 17, 18, 18, 36, 52, 63, 93, 127, 128, -1)
AT_REST = MovedFrames(0, 0, 0, 0, None)
PLAIN = Moved(-1, -1, b"me", True, AT_REST, AT_REST, [], -1, None, 0)


def attacks(seed: int, effort: int) -> dict[str, Callable[[], object]]:
    """Return all attacks, by what they do; effort 1 takes some seconds with sanitizers."""
    return {
        "conversations followed as in Python": partial(conversations, seed, 3_000 * effort),
        "bytes of any kind": partial(noise, seed, 20_000 * effort),
        "connections that Python describes wrongly": partial(misdescribed, seed, 30_000 * effort),
        "connections in the loop, all at once": partial(all_at_once, seed, 2.0 * effort),
    }


def drawn_request(random: Random) -> bytes:
    """Return a request, most of which are usual."""
    key, version = random.choice(KEYS), random.choice((0, 2, 9, 12, 31, 32, -1))
    client, body = random.choice(CLIENTS), random.randbytes(random.choice((0, 3, 40, 400)))
    return request(key, version, random.randrange(5), client, body)


def drawn_step(random: Random) -> Step:
    """Return something that one of two peers says."""
    body = random.randbytes(random.choice((0, 1, 30, 3_000)))
    choice = random.random()
    if choice < 0.4:
        return ASK, drawn_request(random)
    if choice < 0.45:
        return ASK, random.randbytes(random.randrange(20))
    if choice < 0.9:
        return REPLY, body
    if choice < 0.97:
        return ANSWER, response(random.randrange(5), body)
    return ANSWER, random.randbytes(random.randrange(20))


def conversations(seed: int, rounds: int) -> int:
    """Have C and Python follow the same; return how often C gave back."""
    random, back = Random(seed), 0
    for _ in range(rounds):
        steps = [drawn_step(random) for _ in range(random.randrange(4, 40))]
        cuts = [random.randrange(400) for _ in range(20)]
        interests = {
            (key, way): random.choice(list(Interest)) for key in (0, 1, 3, 18) for way in Direction
        }
        back += compare(steps, cuts, interests, random.choice((0, 7, 10_000)))
    return back


def frames(moved: Moved = PLAIN, copy_limit: int = 100, memory_limit: int = 1_000) -> Frames:
    """Return frames with little memory."""
    return Frames(BOUNDS, care(), 10_000, copy_limit, memory_limit, moved)


def noise(seed: int, rounds: int) -> int:
    """Feed frames whose bytes are changed at random; return how many bytes were followed."""
    random, followed = Random(seed), 0
    for _ in range(rounds):
        native = frames()
        for _ in range(10):
            data = bytearray(drawn_request(random) + response(random.randrange(5), b"abc"))
            for _ in range(random.randrange(3)):
                data[random.randrange(len(data))] = random.randrange(256)
            piece = bytes(data[: random.randrange(len(data) + 1)])
            followed += native.feed(random.randrange(2), piece, 0.0, random.randrange(1 << 62))
        native.events(), native.counts(), native.state()
    return followed


def misdescribed(seed: int, rounds: int) -> int:
    """Describe connections by values of the wrong kind; return how many were refused."""
    random, refused = Random(seed), 0
    junk: tuple[Any, ...] = (None, -1, 1 << 70, "x", b"x", (), [], [()], (1, 2, 3, 4), 0.5, [PLAIN])
    for _ in range(rounds):
        values: list[Any] = list(PLAIN)
        for _ in range(random.randrange(1, 3)):
            values[random.randrange(len(values))] = random.choice(junk)
        if random.random() < 0.3:
            values[4:9] = passing(random)
        try:
            native = frames(tuple(values))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            refused += 1
        else:
            native.feed(0, drawn_request(random), 0.0, 0)
            native.feed(1, response(0, b"abc"), 0.0, 0)
            native.state()
    return refused


def passing(random: Random) -> list[Any]:
    """Return both directions in a frame that has begun, whose copies may be too long."""
    flow = (3, 9, 0, random.randrange(50), 0.0, 0, random.choice((None, b"abc")))

    def frames() -> MovedFrames:
        left, copy = random.randrange(50), bytes(random.randrange(80))
        return MovedFrames(0, 1, left, left + random.randrange(50), random.choice((None, copy)))

    return [frames(), frames(), [flow], random.choice((0, -1)), random.choice((None, flow))]


class Connection:
    """A client and a node, with the loop between them."""

    def __init__(self, loop: Loop) -> None:
        self.client, at_client = socket.socketpair()
        self.node, at_node = socket.socketpair()
        for end in (self.client, self.node, at_client, at_node):
            end.setblocking(False)
        moved = PLAIN._replace(client=at_client.detach(), node=at_node.detach())
        self.number = loop.add(moved, time.monotonic_ns())

    def act(self, random: Random, loop: Loop, over: list[int]) -> None:
        """Do something that a peer may do, or the proxy. over: gets the number if it is taken."""
        choice = random.random()
        with suppress(OSError):
            if choice < 0.5:
                self.client.send(drawn_request(random))
            elif choice < 0.8:
                self.node.send(response(random.randrange(5), random.randbytes(2_000)))
            elif choice < 0.9:
                self.client.recv(1 << 16)
                self.node.recv(1 << 16)
            elif choice < 0.93:
                random.choice((self.client, self.node)).shutdown(socket.SHUT_WR)
            elif choice < 0.96:
                random.choice((self.client, self.node)).close()
            elif choice < 0.98:
                take(loop.take(self.number), over)

    def close(self) -> None:
        """Close both ends."""
        self.client.close()
        self.node.close()


def take(state: Any, over: list[int]) -> None:
    """Close the sockets of a connection that has come back, if one has."""
    if state is not None:
        over.append(state[0])
        os.close(state[1][0])
        os.close(state[2][0])


def all_at_once(seed: int, seconds: float) -> int:
    """Let connections come, talk and break while the loop runs; return how many were over.

    Asserts that each ends, comes back or is taken once.
    """
    random = Random(seed)
    loop = Loop(BOUNDS, care(), 10_000, 1_000, 100_000, 4_096, 1_024)
    thread = threading.Thread(target=loop.run)
    thread.start()
    open_ones: list[Connection] = []
    begun: list[int] = []
    over: list[int] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if len(open_ones) < 20:
            open_ones.append(Connection(loop))
            begun.append(open_ones[-1].number)
        random.choice(open_ones).act(random, loop, over)
        if random.random() < 0.02:
            open_ones.pop(random.randrange(len(open_ones))).close()
        if random.random() < 0.1:
            look(random, loop, over)
    for one in open_ones:
        one.close()
    while len(over) < len(begun) and time.monotonic() < end + 30:
        look(random, loop, over)
    loop.stop()
    thread.join()
    look(random, loop, over)
    assert sorted(over) == sorted(begun)
    return len(over)


def look(random: Random, loop: Loop, over: list[int]) -> None:
    """Ask the loop for everything, as the proxy does. over: gets what ends or comes back."""
    for event in loop.events():
        if len(event) == 8:
            take(event, over)
        elif len(event) == 3:
            over.append(event[0])
    loop.counts()
    loop.overdue(time.monotonic_ns(), random.randrange(1 << 40), 1 << 30, 1_024)
    loop.set_interest(random.choice((0, 1, 3, 18)), 9, *random.choices((1, 2, 3), k=2))
    if random.random() < 0.1:
        loop.forget_interests(random.choice((0, 10, 1_000)))
