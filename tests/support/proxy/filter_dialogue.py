"""A dialogue with filters in between, and a clock that only the test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kwire.proxy import Copies, Filter, Filters
from kwire.proxy.data_path.hold import Hold
from kwire.proxy.filters.rule import Dice, RuleFilter
from kwire.proxy.filters.rules import Rules
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.dialogue import Dialogue


def rule_filters(rules: Rules, dice: Dice, start: float) -> list[RuleFilter]:
    """The rules of a file, in order, which share their dice."""
    return [RuleFilter(rule, dice, start) for rule in rules.rules]


@dataclass
class Alarm:
    """Something that happens at a time."""

    due: float
    act: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        """It will not."""
        self.cancelled = True


@dataclass
class HeldDialogue(Dialogue):
    """at_node, at_client: what has arrived at either end."""

    filters: Filters = field(default_factory=Filters)
    memory: Copies = field(default_factory=Copies)
    at_node: bytes = b""
    at_client: bytes = b""
    reasons: list[str] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    crowds: list[tuple[Direction, bool]] = field(default_factory=list)
    time: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hold = Hold(self.filters, self.pairing, self.memory)
        self.hold.begin(self)
        self.requests.hold(self.hold)
        self.responses.hold(self.hold)

    def ask(self, *chunks: bytes) -> bytes:
        """The client sends; returns all that has reached the node."""
        for chunk in chunks:
            self.send(Direction.REQUEST, super().ask(chunk))
        return self.at_node

    def answer(self, *chunks: bytes) -> bytes:
        """The node sends; returns all that has reached the client."""
        for chunk in chunks:
            self.send(Direction.RESPONSE, super().answer(chunk))
        return self.at_client

    def send(self, direction: Direction, data: bytes) -> None:
        """Bytes arrive."""
        if direction is Direction.REQUEST:
            self.at_node += data
        else:
            self.at_client += data

    def later(self, seconds: float, act: Callable[[], None]) -> Alarm:
        """Set an alarm."""
        self.alarms.append(Alarm(self.time + seconds, act))
        return self.alarms[-1]

    def clock(self) -> float:
        """The time that alarms go by."""
        return self.time

    def now_is(self, time: float) -> None:
        """The clock moves on; what was due happens in order."""
        for alarm in sorted(self.alarms, key=lambda one: one.due):
            if alarm.due <= time and not alarm.cancelled:
                alarm.cancelled = True
                self.time = alarm.due
                alarm.act()
        self.time = time

    def cut(self, reason: str) -> None:
        """The filters close the connection."""
        self.reasons.append(reason)

    def crowded(self, direction: Direction, crowded: bool) -> None:
        """The filters hold much."""
        self.crowds.append((direction, crowded))

    def drained(self, direction: Direction) -> None:
        """The filters hold nothing."""

    def hang_up(self) -> None:
        """The connection is gone."""
        self.no_more()
        self.hold.close()
        super().hang_up()


def through(*filters: Filter, drop_on_error: bool = False) -> HeldDialogue:
    """A dialogue through these filters."""
    return HeldDialogue(filters=Filters(filters, drop_on_error=drop_on_error))
