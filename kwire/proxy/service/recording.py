"""The recording of a cluster: into files, into a topic, or into both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread

from kwire.capture import leftovers, recover
from kwire.net.security import PLAINTEXT, read_security
from kwire.proxy.capture.record_topic import TopicProducer, TopicRecorder
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.data_path.copies import COPY_LIMIT
from kwire.proxy.flows.flow import Event
from kwire.proxy.service.config import RecordConfig
from kwire.proxy.service.events import ReportEvent, ServiceEvent, ServiceEventKind


class ClusterRecording:
    """A sink that records from its construction until `end`.

    Raises CannotRecord or OSError if there can be no file; InvalidValue, BadTls or
    TopicUnavailable if messages cannot be sent to the topic.
    """

    def __init__(self, config: RecordConfig, report: ReportEvent, cluster: str = "") -> None:
        self.config = config
        self._report = report
        self._cluster = cluster
        self._topic: TopicProducer | None = None
        self._has_ended = False
        with ExitStack() as started:
            self.recorders = tuple(map(started.enter_context, self._recorders()))
            self._started = started.pop_all()
        left = [] if config.path is None else leftovers(config.path)
        if left:
            # Beside the traffic: to repair a long one takes its time.
            Thread(target=self._recover, args=(left,), name="recovery", daemon=True).start()

    def __call__(self, event: Event) -> None:
        """Take an event from the data path."""
        for recorder in self.recorders:
            recorder(event)

    @property
    def may_start_again(self) -> bool:
        """True if it has stopped early and its folder takes another file."""
        path = self.config.path
        in_folder = path is not None and path.is_dir()
        return in_folder and any(recorder.failure for recorder in self.recorders)

    @property
    def copy_limit(self) -> int:
        """The bytes of a frame that are recorded."""
        return max(recorder.frame_limit or COPY_LIMIT for recorder in self.recorders)

    async def end(self) -> None:
        """Write what waits, then report how much was recorded; nothing if it has ended before."""
        if self._has_ended:
            return
        self._has_ended = True
        # In a thread: a disk or a topic may be slow, and other clusters' traffic goes on.
        await asyncio.to_thread(self._started.close)
        for recorder in self.recorders:
            if isinstance(recorder, TopicRecorder):
                self._report_topic(recorder)
            else:
                self._report_files(recorder)

    def _recover(self, left: list[Path]) -> None:
        for sentence in recover(left):
            self._tell(ServiceEventKind.RECORDING_RECOVERED, sentence)

    def _recorders(self) -> Iterator[Recorder]:
        config = self.config
        if config.topic is not None:
            file = config.client_config
            security = PLAINTEXT if file is None else read_security(file)
            self._topic = TopicProducer(config.topic, security, report=self._lossy)
            yield TopicRecorder(
                self._topic,
                only=config.only,
                show_secrets=config.show_secrets,
                frame_limit=config.frame_limit,
            )
        if config.path is not None:
            yield Recorder(
                files_at(config.path, mode=config.mode, shows_secrets=config.show_secrets),
                only=config.only,
                show_secrets=config.show_secrets,
                frame_limit=config.frame_limit,
                stopped=self._stopped,
            )

    def _report_files(self, recorder: Recorder) -> None:
        path = self.config.path
        assert path is not None
        text = f"{recorder.events} events recorded at {path}"
        if not recorder.events and not path.is_dir():
            text = f"no event was recorded: there is no {path}"
        if recorder.dropped:
            text += f", {recorder.dropped} not: the disk is too slow"
        self._ended(text, is_complete=not recorder.dropped)

    def _report_topic(self, recorder: Recorder) -> None:
        assert self._topic is not None
        text = f"{recorder.events} events recorded into {self.config.topic}"
        if recorder.dropped:
            text += f", {recorder.dropped} not: too much passes"
        if self._topic.lost:
            text += f", {self._topic.lost} records of them lost"
        self._ended(text, is_complete=not (recorder.dropped or self._topic.lost))

    def _ended(self, text: str, *, is_complete: bool) -> None:
        kind = ServiceEventKind.RECORDED if is_complete else ServiceEventKind.RECORDED_IN_PART
        self._tell(kind, text)

    def _stopped(self, sentence: str) -> None:
        self._tell(ServiceEventKind.RECORDING_STOPPED, sentence)

    def _lossy(self, sentence: str) -> None:
        self._tell(ServiceEventKind.RECORDING_LOSSY, sentence)

    def _tell(self, kind: ServiceEventKind, text: str) -> None:
        self._report(ServiceEvent(kind=kind, text=text, cluster=self._cluster))
