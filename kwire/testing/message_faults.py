"""Faults in messages, for tests: which request fails, how, and which were sent.

proxy.on("EndTxn").error("INVALID_TXN_STATE").call(2)
proxy.on("Produce", topic="orders", direction="response").close()
assert proxy.seen("Produce", topic="orders") == 3
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any, Literal, Self

from kwire.codec.declaration import Message
from kwire.errors import InvalidValue
from kwire.proxy.filters.rule import RuleFilter
from kwire.proxy.filters.rules import BadRules, Rule, RulesFile
from kwire.proxy.flows.glob import Glob
from kwire.proxy.flows.language import Expression, Many, in_quotes, parse
from kwire.testing.fault_filter import FaultFilter, TopicExpression
from kwire.text.yaml_file import checked

Way = Literal["request", "response"]


class MessageFault:
    """A fault that acts on the messages that match, from when it has an action on.

    Its methods return it, so that they can follow one another in any order. If traffic flows
    already, give `call`, `skip` or `times` before the action: `on("Fetch").call(2).close()`.
    All of them raise InvalidValue for what cannot be, and change nothing then.
    """

    def __init__(self, filter_: FaultFilter, text: str, keys: Mapping[str, Any]) -> None:
        self._filter = filter_
        self._text = text
        self._keys = dict(keys)
        self._acting: RuleFilter | None = None

    def error(self, code: str | int) -> Self:
        """Answer the request with an error of Kafka's; the node does not see it.

        In a response, all error codes are replaced.
        """
        return self._with(error=code)

    def close(self) -> Self:
        """Close the connection, at both ends."""
        return self._with(close=True)

    def drop(self) -> Self:
        """Lose the message: a client waits in vain for the answer to a dropped request."""
        return self._with(drop=True)

    def stall(self) -> Self:
        """Keep the message and all behind it on the connection, like a node that hangs."""
        return self._with(stall=True)

    def delay(self, seconds: float) -> Self:
        """Send the message later, and all behind it on the connection."""
        if seconds < 0:
            raise InvalidValue(f"a message is not sent {seconds} s later")
        return self._with(delay=f"{seconds:.6f}s")

    def patch(self, path: str, value: str | int | float | bool | None) -> Self:
        """Set a field: `patch("topics.name", "renamed")`; of an array, in each element."""
        return self._with(patch={**self._keys.get("patch", {}), path: value})

    def call(self, number: int) -> Self:
        """Act on this one alone of the messages that match; they count from 1."""
        if number < 1:
            raise InvalidValue(f"calls count from 1: there is no call {number}")
        return self._with(nth=number)

    def skip(self, count: int) -> Self:
        """Let so many messages that match pass first."""
        return self._with(skip=count)

    def times(self, count: int) -> Self:
        """Act so many times at most."""
        return self._with(count=count)

    def remove(self) -> None:
        """End the fault."""
        others = (fault for fault in self._filter.faults if fault is not self._acting)
        self._filter.faults = tuple(others)

    @property
    def hits(self) -> int:
        """The times that it has acted."""
        acting = self._acting
        return 0 if acting is None or acting in self._filter.failures else acting.hits

    @property
    def outcome(self) -> str:
        """The number of messages that matched, or why it could not act on them."""
        acting = self._acting
        if acting is not None and acting in self._filter.failures:
            return f"did nothing: {self._filter.failures[acting]}"
        return f"{0 if acting is None else acting.matched} matched"

    def __str__(self) -> str:
        parts = (
            key if value is True else f"{key} {value}"
            for key, value in self._keys.items()
            if key != "match" and (key, value) != ("direction", "request")
        )
        return f"{self._text}: {', '.join(parts) or 'no action'}"

    def _with(self, **keys: Any) -> Self:
        changed = {**self._keys, **keys}
        if not changed.keys() <= _LIMITS or self._acting is not None:
            self._act(changed)
        self._keys = changed
        return self

    def _act(self, keys: Mapping[str, Any]) -> None:
        """Act by these keys from now on, in the place of what acted before."""
        try:
            rule = checked(Rule, {**keys, "name": self._text[:100]}, BadRules)
        except BadRules as error:
            lines = (line.removeprefix("the file: ") for line in str(error).splitlines())
            raise InvalidValue(f"{self._text}: {'; '.join(lines)}") from None
        acting = RuleFilter(rule, Random(0).random, time.monotonic())
        faults = self._filter.faults
        if self._acting in faults:
            replaced = (acting if fault is self._acting else fault for fault in faults)
            self._filter.faults = tuple(replaced)
        else:
            self._filter.faults = (*faults, acting)
        self._acting = acting


_LIMITS = {"match", "direction", "nth", "skip", "count"}
"""Keys of a rule that are no action."""


class MessageFaults:
    """The faults of the nodes behind one or several proxies, and the requests that were seen.

    A request that a broker forwards to a controller counts as the Envelope that it comes in.
    """

    def __init__(self) -> None:
        self.filter = FaultFilter()
        self._all: list[MessageFault] = []

    def on(
        self,
        api: str = "*",
        *,
        topic: str | None = None,
        client: str | None = None,
        where: str | None = None,
        direction: Way = "request",
    ) -> MessageFault:
        """Return a fault of such messages, which acts once it is told how: `.close()`.

        api: `Fetch`, `Fetch,Produce`, `*Txn*`. topic: one that the message names, by name or id;
        client: the client's id; both may have `*` and `?`. where: an expression of the filter
        language, for all else: `acks==-1`. direction: `response` for what the node answers, when it
        has done what was asked. Raises InvalidValue for names that do not exist.
        """
        match, text = self._match(api, topic, client, where)
        return self._add(text, {"match": match, "direction": direction})

    def blackhole(self, *, client: str = "*") -> MessageFault:
        """Never answer a client again: its connections stay open, and nothing passes.

        `remove` ends it for connections that are opened later.
        """
        return self.on(client=client).stall()

    def rule(self, rule: Mapping[str, Any]) -> list[MessageFault]:
        """Add a rule by the keys of a rules file; return it, or those of a preset.

        Raises InvalidValue. A `topic` of `match` is compared as it stands in the message.
        """
        rules = checked(RulesFile, {"rules": [dict(rule)]}, BadRules).rules
        faults = []
        for made in rules:
            if not made.enabled:
                continue
            fault = self._add(str(made.definition["match"]), {"match": made.match})
            faults.append(fault._with(**{**made.definition, "match": made.match}))
        return faults

    def seen(
        self,
        api: str = "*",
        *,
        topic: str | None = None,
        client: str | None = None,
        where: str | None = None,
    ) -> int:
        """Return how many such requests have come, with those that a fault has hit."""
        return len(self.requests(api, topic=topic, client=client, where=where))

    def requests(
        self,
        api: str = "*",
        *,
        topic: str | None = None,
        client: str | None = None,
        where: str | None = None,
    ) -> list[Any]:
        """Return such requests, decoded, in the order in which they have come."""
        match, _ = self._match(api, topic, client, where)
        if match.needs_response:
            raise InvalidValue("only a response can tell what `where` asks: requests are counted")
        targets = self.filter.requests()
        found: list[Message] = [target.request for target in targets if match(target)]
        if any(target.is_cut for target in targets):
            raise InvalidValue("a request has more values than can be compared: ask for less")
        return found

    def unused(self) -> list[str]:
        """Return the faults that have never acted, each with how many messages matched,
        or why it could not act on them."""
        return [f"{fault} ({fault.outcome})" for fault in self._all if not fault.hits]

    def clear(self) -> None:
        """Remove all faults, and forget the requests that were seen."""
        self.filter.faults = ()
        self.filter.forget()
        self._all.clear()

    def report(self) -> str:
        """Return what was seen and what acted, in lines for a person."""
        kept, forgotten = self.filter.kept()
        counts = Counter(target.flow.api for target in kept)
        seen = ", ".join(f"{count} {api}" for api, count in counts.items()) or "none"
        if forgotten:
            seen += f", and {forgotten} before that are forgotten"
        faults = (f"{fault}: acted {fault.hits} times, {fault.outcome}" for fault in self._all)
        return "\n".join([f"requests: {seen}", *faults])

    def _add(self, text: str, keys: Mapping[str, Any]) -> MessageFault:
        fault = MessageFault(self.filter, text, keys)
        self._all.append(fault)
        return fault

    def _match(
        self, api: str, topic: str | None, client: str | None, where: str | None
    ) -> tuple[Expression, str]:
        """Return the expression, and its text."""
        terms = [f"~api {api}" if api != "*" else "~key 0+"]
        if client is not None and client != "*":
            terms.append(f"~client {in_quotes(client)}")
        if where is not None:
            terms.append(f"({where})")
        text = " & ".join(terms)
        match = parse(text)
        if topic is not None:
            expression = TopicExpression(Glob(topic), self.filter.topic_ids)
            match, text = Many((match, expression), decisive=False), f"{text} & ~topic {topic}"
        return match, text
