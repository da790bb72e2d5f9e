"""A dialogue with filters in between, and a clock that only the test moves."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kwire.proxy import Copies, Filter, Filters
from kwire.proxy.data_path.filter_runner import FilterRunner
from kwire.proxy.data_path.own_requests import PairingWithOwn
from kwire.proxy.data_path.pass_through import Write
from kwire.proxy.filters.rule import Dice, RuleFilter
from kwire.proxy.filters.rules import RulesFile
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.dialogue import Dialogue


def rule_filters(rules: RulesFile, dice: Dice, start: float) -> list[RuleFilter]:
    """The rules of a file, in order, which share their dice."""
    return [RuleFilter(rule, dice, start) for rule in rules.rules]


@dataclass
class Alarm:
    """Something that happens at a time."""

    due: float
    act: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        """Keep the action from happening."""
        self.cancelled = True


@dataclass
class HeldDialogue(Dialogue):
    """A dialogue with filters, whose transport this is as well."""

    filters: Filters = field(default_factory=Filters)
    memory: Copies = field(default_factory=Copies)
    reasons: list[str] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    crowds: list[tuple[Direction, bool]] = field(default_factory=list)
    time: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        pairing = PairingWithOwn(self.connection, self.events.append, self.copies)
        self.pairing = pairing
        self.runner = FilterRunner(self.filters, pairing, self.memory, self)
        self.frame(self.runner.requests, self.runner.responses)

    def ask(self, *chunks: bytes) -> bytes:
        """Send from the client; return all that has reached the node."""
        super().ask(*chunks)
        return self.at_node

    def answer(self, *chunks: bytes) -> bytes:
        """Send from the node; return all that has reached the client."""
        super().answer(*chunks)
        return self.at_client

    def writer(self, direction: Direction) -> Write:
        """Return the function that lets bytes arrive."""
        return self.write_to_node if direction is Direction.REQUEST else self.write_to_client

    def call_later(self, seconds: float, act: Callable[[], None]) -> Alarm:
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

    def abort(self, reason: str) -> None:
        """The filters close the connection."""
        self.reasons.append(reason)

    def set_crowded(self, direction: Direction, crowded: bool) -> None:
        """The filters hold much."""
        self.crowds.append((direction, crowded))

    def drained(self, direction: Direction) -> None:
        """The filters hold nothing."""

    def hang_up(self) -> None:
        """The connection is gone."""
        self.no_more()
        self.runner.close()
        super().hang_up()


def through(*filters: Filter, drop_on_error: bool = False) -> HeldDialogue:
    """A dialogue through these filters."""
    return HeldDialogue(filters=Filters(filters, drop_on_error=drop_on_error))
