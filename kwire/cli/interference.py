"""What `kwire proxy` does to the traffic: scripts and rules, loaded anew when they are saved."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

from kwire.cli.errors import WrongUsage
from kwire.cli.feeding import Feeding
from kwire.cli.flow_options import expression
from kwire.cli.saved_files import LOOK, SavedFiles
from kwire.cli.screen import screen
from kwire.errors import InvalidValue
from kwire.net.tasks import cancel_and_wait
from kwire.proxy import Action, Close, Drop, Filter, Filters, Flow
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.filters.intercept import Stop
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.filters.rules import Rules, load_rules
from kwire.proxy.filters.script import load

if TYPE_CHECKING:
    from kwire.cli.serving import Serving
    from kwire.proxy.feed.sender import Feed

log = logging.getLogger("kwire.proxy")

_WORDS: dict[str, Action | None] = {"": None, "drop": Drop(), "close": Close()}


class Interference:
    """The filters, and a task that keeps them as the files say while the context lasts.

    hold: an expression, what lines on stdin decide about. book: the addresses that are written over
    the nodes'. feed: to its viewers, who hold messages as well. serving: answers what no filter
    before it has. Raises WrongUsage, CommandFailed.
    """

    def __init__(
        self,
        *,
        scripts: Sequence[Path] = (),
        rules: Path | None = None,
        hold: str | None = None,
        book: AddressBook | None = None,
        feeding: Feeding | None = None,
        serving: Serving | None = None,
    ) -> None:
        self._scripts = tuple(scripts)
        self._rules = rules
        self._asks = hold is not None
        wanted = self._asks or feeding is not None
        self._stop = Stop(expression(hold), self._held) if wanted else None
        self._files = (*self._scripts, *([] if rules is None else [rules]))
        self._saved = SavedFiles(self._files)
        self._tasks: list[asyncio.Task[None]] = []
        self.book = book
        self.serving = serving
        self._fixed: list[Filter] = [] if book is None else [RewriteEndpoints(book)]
        if serving is not None:
            self._fixed.append(serving.filter)
        self.filters = Filters()
        self._scripted: list[Filter] = []
        self.rules = RuleSet(time.monotonic, lambda seed: Random(seed).random, self._commanded)
        try:
            self._load()
        except InvalidValue as error:
            raise WrongUsage(f"{error}") from error
        self.feed: Feed | None = None
        if feeding is not None and self._stop is not None:
            self.feed = feeding.feed(self._stop, self.filters, self.rules, hold)

    @property
    def decides_addresses(self) -> bool:
        """True if clients are given the proxy's addresses, whatever the nodes say."""
        return self.book is not None or self.serving is not None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._tasks.append(loop.create_task(self._follow()))
        if self._stop is not None and self._asks:
            lines: asyncio.Queue[str] = asyncio.Queue()
            threading.Thread(target=_read, args=(loop, lines), daemon=True).start()
            self._tasks.append(loop.create_task(self._obey(self._stop, lines)))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await cancel_and_wait(self._tasks)

    async def _follow(self) -> None:
        """Load again what was saved; what is wrong then is told, and what was before it stays."""
        while True:
            await asyncio.sleep(LOOK)
            if not self._saved.changed(self._files):
                continue
            try:
                self._load()
            except InvalidValue as error:
                _say(f"not loaded, the filters stay as they were: {error}", "red")
            else:
                _say("the filters were loaded again", "dim")
                if self.feed is not None:
                    self.feed.announce()

    async def _obey(self, stop: Stop, lines: asyncio.Queue[str]) -> None:
        while True:
            word = (await lines.get()).strip()
            if word == "all":
                while stop.release():
                    pass
            elif word not in _WORDS:
                _say(f"{word!r} is no answer: press Enter, or write drop, close or all", "red")
            elif not stop.release(_WORDS[word]):
                _say("nothing is held", "dim")

    def _held(self, flow: Flow) -> None:
        if self.feed is not None:
            self.feed.hold(flow)
        if self._asks:
            _tell(flow)

    def _load(self) -> None:
        scripted = [one for path in self._scripts for one in load(path)]
        rules = Rules() if self._rules is None else load_rules(self._rules)
        Filters(scripted)  # raises before anything has changed
        self._scripted = scripted
        for sentence in self.rules.load(rules):
            _say(sentence, "yellow")
        self.filters.drop_on_error = rules.on_error == "drop"
        self._use()

    def _use(self) -> None:
        """Let the filters act that are in force now."""
        first: list[Filter] = [] if self._stop is None else [self._stop]
        self.filters.replace([*first, *self._scripted, *self.rules.filters, *self._fixed])

    def _commanded(self, sentence: str) -> None:
        self._use()
        if self.feed is not None:
            self.feed.announce()
        log.info("%s", sentence)
        _say(sentence, "dim")


def _read(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str]) -> None:
    """In a thread: lines of stdin, until it or the loop ends."""
    with suppress(RuntimeError, ValueError):
        for line in sys.stdin or ():
            loop.call_soon_threadsafe(lines.put_nowait, line)


def _tell(flow: Flow) -> None:
    what = f"{flow.api} v{flow.version}"
    what = f"the answer to {what}" if flow.answered is not None else what
    who = flow.connection.label
    _say(f"held: {what} of {who}; Enter lets it go, or drop, close, all", "cyan")


def _say(text: str, style: str) -> None:
    screen(stderr=True).print(text, style=style, markup=False, highlight=False)
