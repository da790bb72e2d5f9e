"""Other threads run while the native engine, or a frame around its bytes, is at something large."""

import gc
import threading
import time
from collections.abc import Callable

import pytest

from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.net.frames import decode_request, encode_request
from tests.support.codec.native import attack

TRIES = 5


def longest_wait(work: Callable[[], object]) -> float:
    """The part of the time of `work`, in another thread, in which this one could not run once."""
    kept: list[object] = []  # freed here afterwards: that takes time, too
    working = threading.Thread(target=lambda: kept.append(work()))
    longest, began = 0.0, time.perf_counter()
    last = began
    working.start()
    while working.is_alive():
        time.sleep(0.0005)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest / (last - began)


@pytest.mark.costly
def test_a_thread_waits_for_a_small_part_of_the_time() -> None:
    assert attack.native
    gc.disable()  # one collection of all that a test process has would be the longest wait
    topics = [CreatableTopic(name=f"{n:0240x}") for n in range(300_000)]
    request = CreateTopicsRequest(topics=topics)
    frame = encode_request(request, 7, correlation_id=1)[4:]
    works: list[Callable[[], object]] = [
        lambda: encode_request(request, 7, correlation_id=1),
        lambda: decode_request(frame),
    ]
    try:
        waits = [min(longest_wait(work) for _ in range(TRIES)) for work in works]
    finally:
        gc.enable()
    assert max(waits) < 0.3, waits
