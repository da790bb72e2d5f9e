"""An answer is released by a commit of the epoch in which it was deferred, and by nothing else."""

from itertools import permutations

from kwire.controller.state_machine.deferred_event_queue import Deferred, DeferredEventQueue
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError


class Releases:
    """The answers in the order of their release, each with its error."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, ErrorCode | None]] = []

    def of(self, name: str) -> Deferred:
        def release(error: ApiError | None) -> None:
            self.seen.append((name, error.code if error else None))

        return release


def test_a_commit_releases_what_lies_below_it_whatever_the_order_of_deferral() -> None:
    for order in permutations([("first", 10), ("second", 20), ("third", 30)]):
        queue, releases = DeferredEventQueue(5), Releases()
        for name, offset in order:
            queue.defer(offset, releases.of(name))
        queue.committed(20)
        assert releases.seen == [("first", None), ("second", None)]
        queue.committed(30)
        assert releases.seen[2:] == [("third", None)]


def test_what_is_committed_already_is_released_at_once() -> None:
    queue, releases = DeferredEventQueue(5), Releases()
    queue.committed(10)
    queue.defer(10, releases.of("done"))
    queue.defer(11, releases.of("open"))
    assert releases.seen == [("done", None)]


def test_the_end_of_the_epoch_fails_what_waits_and_what_comes_later() -> None:
    queue, releases = DeferredEventQueue(5), Releases()
    queue.defer(20, releases.of("waits"))
    queue.end()
    queue.defer(20, releases.of("late"))
    queue.committed(30)  # of another epoch's log: too late for both
    queue.defer(25, releases.of("later"))
    assert releases.seen == [
        ("waits", ErrorCode.NOT_CONTROLLER),
        ("late", ErrorCode.NOT_CONTROLLER),
        ("later", ErrorCode.NOT_CONTROLLER),
    ]


def test_an_answer_of_an_earlier_epoch_holds_up_none_of_a_later_one() -> None:
    earlier, later, releases = DeferredEventQueue(5), DeferredEventQueue(7), Releases()
    earlier.end()
    earlier.defer(1000, releases.of("stale"))
    later.defer(40, releases.of("fresh"))
    later.committed(40)
    assert releases.seen == [("stale", ErrorCode.NOT_CONTROLLER), ("fresh", None)]
