"""The filters of a cluster: loaded from files, commanded by viewers, and those of the service."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.filter import Action, Filter
from kwire.proxy.filters.intercept import Intercept
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.filters.rules import RulesFile, load_rules
from kwire.proxy.filters.script import load
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.language import parse
from kwire.proxy.service.config import ClusterConfig, FeedConfig
from kwire.proxy.service.events import ServiceEventKind
from kwire.proxy.service.feed import make_feed

if TYPE_CHECKING:
    from kwire.proxy.feed.sender import Feed


class LoadedFilters:
    """The scripts and rules of a configuration, loaded. Raises InvalidValue if one is wrong."""

    def __init__(self, config: ClusterConfig) -> None:
        self.config = config
        self.scripted: list[Filter] = [
            script_filter for path in config.scripts for script_filter in load(path)
        ]
        self.rules = RulesFile() if config.rules is None else load_rules(config.rules)
        self.drop_on_error = self.rules.on_error == "drop"
        Filters(self.scripted)  # raises InvalidValue before anything of the old is given up


class ClusterFilters:
    """The filters of a proxy, in the order in which requests meet them.

    1. Messages are held, if `hold` or a feed is configured: viewers set what is held.
    2. Scripts, then rules, which viewers of the feed change as well.
    3. The filters of `last`: rewriting of addresses, or serving. They see what the others left.

    tell: takes events with their text. Raises InvalidValue, MissingExtra.
    """

    def __init__(
        self,
        *,
        hold: str | None = None,
        feed: FeedConfig | None = None,
        last: Sequence[Filter] = (),
        tell: Callable[[ServiceEventKind, str], None] = lambda kind, text: None,
    ) -> None:
        self._tell = tell
        self._last = tuple(last)
        self._scripted: list[Filter] = []
        self._intercept: Intercept | None = None
        self.filters = Filters()
        self.rules = RuleSet(time.monotonic, lambda seed: Random(seed).random, self._commanded)
        self.feed: Feed | None = None
        if hold is not None or feed is not None:
            match = None if hold is None else parse(hold)
            self._intercept = Intercept(match, self._held)
            if feed is not None:
                self.feed = make_feed(
                    feed.listen, feed.token, self._intercept, self.filters, self.rules, hold
                )
        self._replace()

    def use(self, loaded: LoadedFilters) -> None:
        """Let these scripts and rules act from now on, with what was commanded of the rules."""
        self._scripted = loaded.scripted
        for sentence in self.rules.load(loaded.rules):
            self._tell(ServiceEventKind.RULE_REPLACED, sentence)
        self.filters.drop_on_error = loaded.drop_on_error
        self._replace()
        if self.feed is not None:
            self.feed.announce()

    def release(self, action: Action | None) -> bool:
        """Release the message that is held longest; return False if none is held.

        action: instead of sending it on, or None.
        """
        return self._intercept is not None and self._intercept.release(action)

    def _replace(self) -> None:
        # 1., 2., 3.
        first = () if self._intercept is None else (self._intercept,)
        self.filters.replace([*first, *self._scripted, *self.rules.filters, *self._last])

    def _held(self, flow: Flow) -> None:
        if self.feed is not None:
            self.feed.hold(flow)
        message = f"{flow.api} v{flow.version}"
        if flow.answered is not None:
            message = f"the answer to {message}"
        self._tell(ServiceEventKind.MESSAGE_HELD, f"{message} of {flow.sender}")

    def _commanded(self, sentence: str) -> None:
        self._replace()
        if self.feed is not None:
            self.feed.announce()
        self._tell(ServiceEventKind.RULE_COMMANDED, sentence)
