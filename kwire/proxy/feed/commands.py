"""What viewers may do: say which messages are held, change those that are, and let them go."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import yaml

from kwire.codec.declaration import Request
from kwire.errors import InvalidValue
from kwire.proxy.feed.datagrams import (
    AddRule,
    Command,
    Done,
    Edit,
    Release,
    RemoveRule,
    RuleCommand,
    RuleShown,
    SetHold,
    SwitchRule,
)
from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.filter import Action, Close, Drop
from kwire.proxy.filters.intercept import NOT_HELD, Stop
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.language import parse
from kwire.proxy.flows.whole import ENCODING

HOW: dict[str, Action | None] = {"resume": None, "drop": Drop(), "close": Close()}
"""What can become of a held message."""


class Controls:
    """Does what viewers command.

    filters: those of the proxy, the stop among them. rules: those that viewers change.
    expression: what the stop holds, as text.
    """

    def __init__(
        self, stop: Stop, filters: Filters, rules: RuleSet, expression: str | None = None
    ) -> None:
        self._stop = stop
        self._filters = filters
        self.rules = rules
        self.expression = expression

    @property
    def held(self) -> tuple[Flow, ...]:
        """The flows that wait, the oldest first."""
        return tuple(one.flow for one in self._stop.waiting)

    def snapshot(self, flow: Flow) -> Flow | None:
        """The flow with its message as it is now; None where it does not wait any more."""
        waiting = next((one for one in self._stop.waiting if one.flow is flow), None)
        if waiting is None:
            return None
        shown = copy(flow)
        try:
            frame = waiting.frame
        except ENCODING:  # a filter before left what cannot be sent: its flow will say so
            return shown
        if isinstance(waiting.message, Request):
            shown.request_copy, shown.request_size = frame, len(frame)
        else:
            shown.response_copy, shown.response_size = frame, len(frame)
        return shown

    @property
    def shown_rules(self) -> tuple[RuleShown, ...]:
        """The rules as viewers are told of them."""
        return tuple(
            RuleShown(
                name=entry.name,
                enabled=entry.enabled,
                origin=entry.origin,
                hits=entry.filter.hits,
                rule=entry.rule.definition,
            )
            for entry in self.rules.entries
        )

    def obey(self, command: Command, flow_of: Callable[[int], Flow | None], by: str) -> Done:
        """Do it, or say why not. flow_of: finds a held flow by its number. by: who commands."""
        names: tuple[str, ...] = ()
        try:
            if isinstance(command, SetHold):
                self._hold(command.expression)
            elif isinstance(command, AddRule | SwitchRule | RemoveRule):
                names = self._change_rules(command, by)
            else:
                flow = flow_of(command.flow)
                if flow is None:
                    raise InvalidValue(NOT_HELD)
                self._act(command, flow)
        except InvalidValue as error:
            return Done(number=command.number, problem=str(error)[:1000])
        return Done(number=command.number, names=names)

    def _change_rules(self, command: RuleCommand, by: str) -> tuple[str, ...]:
        match command:
            case AddRule():
                return tuple(self.rules.add(command.rule, by))
            case SwitchRule():
                self.rules.switch(command.name, by, enabled=command.enabled)
            case RemoveRule():
                self.rules.remove(command.name, by)
        return (command.name,)

    def _hold(self, expression: str | None) -> None:
        self._stop.match = None if expression is None else parse(expression)
        self.expression = expression
        self._filters.replace(self._filters.filters)

    def _act(self, command: Release | Edit, flow: Flow) -> None:
        if isinstance(command, Edit):
            self._stop.edit(flow, command.path, _value(command.value))
        elif command.how not in HOW:
            raise InvalidValue(f"{command.how!r} is none of {', '.join(HOW)}")
        elif not self._stop.release(HOW[command.how], flow):
            raise InvalidValue(NOT_HELD)


def _value(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidValue(f"{text[:80]!r} is no value: quote it if it is text") from error
