"""One cluster of a service: its proxy, and the filters, recording and counts that belong to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Self

from kwire.cli.certificate_warnings import CertificateWarnings
from kwire.cli.service_lasting import Lasting
from kwire.cli.service_log import NoticeLog, log
from kwire.net.address import Address
from kwire.net.security import PLAINTEXT, read_security
from kwire.proxy import (
    Copies,
    DecodedFlow,
    Direction,
    Event,
    Filter,
    Filters,
    Interest,
    Limits,
    Listener,
    Notice,
    Proxy,
    Tap,
)
from kwire.proxy.addresses.bypass import BypassWatch
from kwire.proxy.addresses.new_listeners import NewListeners
from kwire.proxy.capture.record_topic import Topic, TopicRecorder
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.data_path.copies import COPY_LIMIT
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.filters.rules import Rules, load_rules
from kwire.proxy.filters.script import load
from kwire.proxy.service.config import ClusterConfig, RecordConfig
from kwire.proxy.service.metrics import Metrics
from kwire.proxy.service.metrics_families import Metered

View = Callable[[DecodedFlow | Notice], None]

CODES_LIMIT = 64 * 1024
"""Bytes of a response that are copied where only its error codes are wanted."""


class Prepared:
    """The filters that a configuration asks for. Raises InvalidValue where they cannot be used."""

    def __init__(self, config: ClusterConfig) -> None:
        self.config = config
        self.scripted: list[Filter] = []
        for path in config.scripts:
            self.scripted += load(path)
        self.rules = Rules() if config.rules is None else load_rules(config.rules)
        self.drop_on_error = self.rules.on_error == "drop"
        Filters(self.scripted)


class ClusterService:
    """The proxy of a cluster while the context lasts. Its listeners are opened by `listen`.

    recorder: takes what passes, and is ended with this. view: is shown the decoded flows. metered:
    whether they are counted. failed: takes why the service is to end.
    """

    def __init__(
        self,
        prepared: Prepared,
        recorder: Recorder | None,
        limits: Limits,
        *,
        view: View | None,
        metered: bool,
        failed: Callable[[str], None] = log.error,
    ) -> None:
        self._failed = failed
        self.config = prepared.config
        self.recorder = recorder
        self.filters = Filters(drop_on_error=prepared.drop_on_error)
        self.rules = RuleSet(time.monotonic, lambda seed: Random(seed).random, self._commanded)
        self.lasting = Lasting(prepared.config, self.filters, self.rules)
        self._scripted: list[Filter] = []
        self._use(prepared)
        self.metrics = Metrics() if metered else None
        self.tap = Tap(self._see)
        self._view = view
        self.certificates = CertificateWarnings(self._warn)
        self._told = NoticeLog(self.name)
        self.proxy = Proxy(
            sinks=[self._take],
            wants=self._wants,
            limits=limits,
            copies=Copies(self._copied),
            filters=self.filters if self.filters.filters else None,
            opened=self._say_listening,
        )
        book = self.lasting.book
        is_watched = book is None and self.lasting.serving is None
        watch = BypassWatch(lambda: self.proxy.addresses, self._bypassed)
        self._watch = watch if is_watched else None
        self._new = None if book is None else NewListeners(self.proxy, book)
        self._parts = AsyncExitStack()

    @property
    def name(self) -> str:
        """The cluster's, empty where there is but one."""
        return self.config.name

    @property
    def files(self) -> list[Path]:
        """Those whose saving is to be heeded."""
        rules = self.config.rules
        return [*self.config.scripts, *([] if rules is None else [rules])]

    @property
    def metered(self) -> Metered | None:
        """What Prometheus is to read."""
        if self.metrics is None:
            return None
        return Metered(
            metrics=self.metrics,
            proxy=self.proxy,
            tap=self.tap,
            filters=self.filters,
            recorder=self.recorder,
            cluster=self.name,
        )

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as parts:
            parts.push_async_callback(self._end_recording)
            for part in (self.tap, self.lasting.feed, self.proxy, self._new):
                if part is not None:
                    await parts.enter_async_context(part)
            if self.lasting.serving is not None:
                if self.lasting.serving.banner:
                    log.warning("%s", self.lasting.serving.banner)
                await parts.enter_async_context(self.lasting.serving.run(self.proxy))
            self._parts = parts.pop_all()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._parts.aclose()

    async def listen(self, listener: Listener) -> None:
        """Stand in front of one more node, and say so. Raises CannotListen."""
        await (self.proxy if self._new is None else self._new).listen(listener)

    async def change(self, prepared: Prepared, recorder: Recorder | None) -> None:
        """Filter and record like this from now on, on the connections that are open, too."""
        self.config = prepared.config
        self._use(prepared)
        if self.lasting.feed is not None:
            self.lasting.feed.announce()
        if self.filters.filters and self.proxy.filters is None:
            log.info("filters act on the connections that are opened from now on")
        self.proxy.filters = self.filters if self.filters.filters else None
        if recorder is not self.recorder:
            before, self.recorder = self.recorder, recorder
            self.proxy.copies.copy_limit = self._copied
            await end_recording(before)

    def _use(self, prepared: Prepared) -> None:
        """Let these scripts and rules act, with what was commanded of the rules."""
        self._scripted = prepared.scripted
        for sentence in self.rules.load(prepared.rules):
            self._warn(sentence)
        self.filters.drop_on_error = prepared.drop_on_error
        self._replace()

    def _replace(self) -> None:
        self.filters.replace(self.lasting.around([*self._scripted, *self.rules.filters]))

    def _commanded(self, sentence: str) -> None:
        self._replace()
        log.info("%s", sentence, extra={"cluster": self.name or None})
        if self.lasting.feed is not None:
            self.lasting.feed.announce()

    async def _end_recording(self) -> None:
        await end_recording(self.recorder)

    def _say_listening(self, listener: Listener, address: Address) -> None:
        where = {"cluster": self.name or None, "node": listener.node_id}
        log.info("listening at %s in front of %s", address, listener.upstream, extra=where)
        self.certificates.look(listener)

    def _warn(self, sentence: str) -> None:
        log.warning("%s", sentence, extra={"cluster": self.name or None})

    def _bypassed(self, notice: Notice) -> None:
        """A node is named that is not behind the proxy."""
        self.proxy.tell(notice)
        if self.config.strict:
            self._failed(notice.text)

    @property
    def _whole(self) -> bool:
        """Whether whole messages are wanted by somebody."""
        wanting = (self._view, self.recorder, self.lasting.feed)
        return any(one is not None for one in wanting)

    @property
    def _copied(self) -> int:
        if self._view is not None or self.lasting.feed is not None:
            return COPY_LIMIT
        recorded = 0 if self.recorder is None else self.recorder.frame_limit or COPY_LIMIT
        return min(max(recorded, CODES_LIMIT), COPY_LIMIT)

    def _wants(self, key: int, version: int, direction: Direction) -> Interest:
        if self._whole:
            return Interest.TAP
        if self.metrics is not None and direction is Direction.RESPONSE:
            return Interest.TAP
        watched = self._watch is not None and self._watch.wants(key, version, direction)
        return Interest.TAP if watched else Interest.PASS

    def _take(self, event: Event) -> None:
        self._told(event)
        if self.recorder is not None:
            self.recorder(event)
        if self.lasting.feed is not None:
            self.lasting.feed(event)
        if self.metrics is not None:
            self.metrics(event)
        if any(one is not None for one in (self.metrics, self._view, self._watch)):
            self.tap(event)

    def _see(self, seen: DecodedFlow | Notice) -> None:
        if self._watch is not None:
            self._watch.see(seen)
        if self.metrics is not None:
            self.metrics.see(seen)
        if self._view is not None:
            self._view(seen)


def begin_recording(config: RecordConfig) -> Recorder:
    """A recorder at work. Raises CannotRecord and OSError where there can be no file, InvalidValue,
    BadTls and TopicUnavailable where messages cannot be sent."""
    return _recorder(config).__enter__()


def _recorder(config: RecordConfig) -> Recorder:
    meant, show_secrets, frame_limit = config.only, config.show_secrets, config.frame_limit
    if config.path is not None:
        return Recorder(
            files_at(config.path),
            meant=meant,
            show_secrets=show_secrets,
            frame_limit=frame_limit,
            stopped=_say_stopped,
        )
    assert config.topic is not None, "a record has a path or a topic"
    security = PLAINTEXT if config.client_config is None else read_security(config.client_config)
    topic = Topic(config.topic, security, told=_say_stopped)
    return TopicRecorder(topic, meant=meant, show_secrets=show_secrets, frame_limit=frame_limit)


def _say_stopped(reason: str) -> None:
    log.error("%s", reason)


async def end_recording(recorder: Recorder | None) -> None:
    """Write what waits, in a thread, since the disk may be slow."""
    if recorder is not None:
        await asyncio.to_thread(recorder.__exit__, None, None, None)
