"""A dialogue that the frames in C follow for a while, again and again, as the loop does."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

from kwire.proxy import Flow, Interest, Limits
from kwire.proxy.data_path.followed_frames import FollowedFrames
from kwire.proxy.data_path.moved import FramesState
from kwire.proxy.data_path.native_loop import NativeLoop, care
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.latencies import BOUNDS
from tests.support.native_extensions import needs_extension
from tests.support.proxy.dialogue import Dialogue

with needs_extension():
    from kwire.proxy.data_path.native import Frames

NS = 1_000_000_000


@dataclass
class MovingDialogue(Dialogue):
    """A Dialogue whose frames C follows from `move` on, until it meets one that is not usual.

    counted: what it has counted. back: how often it gave back.
    """

    counted: list[CountedFlows] = field(default_factory=list)
    back: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._frames = FollowedFrames(self.pairing, self.requests, self.responses)
        self._native: Frames | None = None
        self._loop = NativeLoop(
            self.events.append, self.counted.append, self.wants, self.copies, Limits()
        )

    def come_back(self, state: Any) -> None:
        """Not called: no socket comes back here."""

    def ended(self, last: Direction) -> None:
        """Not called either."""

    def move(self) -> None:
        """Let C follow, if that is possible now."""
        if self._native is None and self._frames.can_be_moved:
            limits = self.limit, self.copies.copy_limit, self.copies.memory_limit
            self._native = Frames(BOUNDS, care(), *limits, self._frames.moved(0, 0))
            # What the loop in C has of a connection's frames is all that the test uses of it.
            self._loop._loop = cast(Any, self._native)
            self._loop._movers[1] = self
            self._loop._interests.clear()
            self._frames.give_up()

    def no_more(self) -> None:
        """No more bytes will come from either end."""
        self._take_back()
        super().no_more()

    def _take_back(self) -> None:
        if self._native is None:
            return
        state = FramesState.of(self._native.state())
        self._report()
        self._native = None
        self._frames.restore(state)

    def _report(self) -> None:
        assert self._native is not None
        self._loop._read_events()
        for count in self._native.counts():
            self._loop._count(self, [count])

    def _feed(self, framer: Any, chunks: Any) -> None:
        for chunk in chunks:
            if self._native is None:
                super()._feed(framer, [chunk])
                continue
            direction = 0 if framer is self.requests else 1
            self.now += 1.0
            at = 1_000_000.0 + self.now
            followed = self._native.feed(direction, chunk, at, int(self.now * NS))
            self._report()
            write = self.write_to_client if direction else self.write_to_node
            write(chunk[:followed])
            if followed < len(chunk):
                self.back += 1
                self._take_back()
                framer.feed(chunk[followed:], at, self.now)


def tally(dialogue: Dialogue) -> Counter[tuple[Any, ...]]:
    """Return the flows that are only counted: how many, how large, how long, by connection and API.

    Those of a MovingDialogue may be flows as well, or in counts.
    """
    found: Counter[tuple[Any, ...]] = Counter()
    for flow in dialogue.flows:
        if not is_counted(dialogue, flow):
            continue
        what = (flow.key, flow.version)
        found[*what, "requests"] += 1
        found[*what, "asked"] += flow.request_size
        found[*what, "answered"] += flow.response_size or 0
        found[*what, "seconds"] += int(flow.latency or 0)
    for counted in dialogue.counted if isinstance(dialogue, MovingDialogue) else ():
        what = (counted.key, counted.version)
        found[*what, "requests"] += counted.requests
        found[*what, "asked"] += counted.request_bytes
        found[*what, "answered"] += counted.response_bytes
        found[*what, "seconds"] += round(counted.seconds)
    return +found


def is_counted(dialogue: Dialogue, flow: Flow) -> bool:
    """True if nobody needs this flow by itself."""
    both = (dialogue.wants(flow.key, flow.version, way) for way in Direction)
    return all(one is Interest.COUNT for one in both)
