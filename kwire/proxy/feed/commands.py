"""The commands of viewers: hold messages, edit and release held ones, change rules."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from kwire.codec.declaration import Request
from kwire.errors import InvalidValue
from kwire.proxy.feed.datagrams import (
    AddRule,
    Command,
    CommandResult,
    Edit,
    Release,
    RemoveRule,
    RuleCommand,
    SetHold,
    ShownRule,
    SwitchRule,
)
from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.filter import Action, Close, Drop
from kwire.proxy.filters.intercept import NOT_HELD, Intercept
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.flows.decoded_frame import ENCODING
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.language import parse
from kwire.text.untrusted import cut_repr
from kwire.text.yaml_data import COMMAND_BOUNDS, BadYaml, read_yaml_data

RELEASES: dict[str, Action | None] = {"resume": None, "drop": Drop(), "close": Close()}
"""The names by which viewers release a held message, and the action; None lets it pass."""


class Controls:
    """Executes the commands of viewers.

    filters: those of the proxy, with `intercept`. rules: those that viewers may change. expression:
    the text of the expression by which messages are held.
    """

    def __init__(
        self, intercept: Intercept, filters: Filters, rules: RuleSet, expression: str | None = None
    ) -> None:
        self._intercept = intercept
        self._filters = filters
        self.rules = rules
        self.expression = expression

    @property
    def held(self) -> tuple[Flow, ...]:
        """The flows with a held message, the oldest first."""
        return tuple(waiting.flow for waiting in self._intercept.waiting)

    def snapshot(self, flow: Flow) -> Flow | None:
        """Return a copy of a flow with its held message as edited, None if it is not held."""
        waiting = next((held for held in self._intercept.waiting if held.flow is flow), None)
        if waiting is None:
            return None
        snapshot = copy(flow)
        try:
            frame = waiting.frame
        except ENCODING:  # an earlier filter made it impossible to encode: its flow reports that
            return snapshot
        if isinstance(waiting.message, Request):
            snapshot.request_copy, snapshot.request_size = frame, len(frame)
        else:
            snapshot.response_copy, snapshot.response_size = frame, len(frame)
        return snapshot

    @property
    def shown_rules(self) -> tuple[ShownRule, ...]:
        """The rules in their order, as viewers are sent them."""
        return tuple(
            ShownRule(
                name=entry.name,
                enabled=entry.enabled,
                origin=entry.origin,
                hits=entry.filter.hits,
                rule=entry.rule.definition,
            )
            for entry in self.rules.entries
        )

    def execute(
        self, command: Command, flow_of: Callable[[int], Flow | None], by: str
    ) -> CommandResult:
        """Execute a command; return its result.

        flow_of: finds a held flow by its number. by: the address of the viewer.
        """
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
                self._change_held(command, flow)
        except InvalidValue as error:
            return CommandResult(number=command.number, problem=str(error)[:1000])
        return CommandResult(number=command.number, names=names)

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
        self._intercept.match = None if expression is None else parse(expression)
        self.expression = expression
        # The filters remember which messages each of them wants; another expression wants others.
        self._filters.replace(self._filters.filters)

    def _change_held(self, command: Release | Edit, flow: Flow) -> None:
        if isinstance(command, Edit):
            self._intercept.edit(flow, command.path, _value(command.value))
        elif command.how not in RELEASES:
            raise InvalidValue(f"{cut_repr(command.how)} is none of {', '.join(RELEASES)}")
        elif not self._intercept.release(RELEASES[command.how], flow):
            raise InvalidValue(NOT_HELD)


def _value(text: str) -> object:
    try:
        return read_yaml_data(text, COMMAND_BOUNDS)[0]
    except BadYaml as error:
        raise InvalidValue(f"{cut_repr(text)} is no value: quote it if it is text") from error
