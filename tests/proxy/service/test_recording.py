"""The recording of a cluster: in files and in a topic at a time, and its end."""

import errno
from pathlib import Path

import pytest

from kwire.capture import CaptureFiles, capture_info, leftovers, read_capture
from kwire.capture.file import hidden
from kwire.proxy.capture.record_topic import TopicAddress, TopicRecorder
from kwire.proxy.capture.recorder import FLUSH_SECONDS, Recorder, files_at
from kwire.proxy.service.config import RecordConfig
from kwire.proxy.service.events import AnyEvent, ServiceEvent, ServiceEventKind
from kwire.proxy.service.recording import ClusterRecording
from real_kafka import free_port
from tests.support.eventually import eventually
from tests.support.file_permissions import mode_of, umask
from tests.support.proxy.flows.dialogue_flows import votes

Events = list[AnyEvent]


def kinds(events: Events) -> list[ServiceEventKind]:
    return [event.kind for event in events if isinstance(event, ServiceEvent)]


async def test_the_end_says_how_much_was_recorded_once(tmp_path: Path) -> None:
    events: Events = []
    path = tmp_path / "one.avro"
    recording = ClusterRecording(RecordConfig(path=path), events.append, "orders")
    for flow in votes(3):
        recording(flow)
    for _ in range(2):
        await recording.end()
    kind, text = ServiceEventKind.RECORDED, f"3 events recorded at {path}"
    assert events == [ServiceEvent(kind=kind, text=text, cluster="orders")]
    assert len(list(read_capture(path))) == 6


async def test_what_a_killed_recording_left_is_repaired_beside_the_next(tmp_path: Path) -> None:
    path, events = tmp_path / "one.avro", Events()
    killed = files_at(path)
    with Recorder(killed) as recorder:
        for flow in votes(3):
            recorder(flow)
        await eventually(lambda: recorder.events == 3)
        killed.tick(FLUSH_SECONDS, FLUSH_SECONDS)
        data = hidden(path).read_bytes()
    path.unlink()
    hidden(path).write_bytes(data + b"torn")
    recording = ClusterRecording(RecordConfig(path=path), events.append)
    await eventually(lambda: ServiceEventKind.RECORDING_RECOVERED in kinds(events))
    recording(votes(1)[0])
    await recording.end()
    assert len(list(read_capture(path))) == 2
    assert len(list(read_capture(tmp_path / "one-recovered-1.avro"))) == 6
    assert leftovers(path) == []


async def test_a_disk_that_is_full_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(self: object, *args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CaptureFiles, "write", write)
    events: Events = []
    recording = ClusterRecording(RecordConfig(path=tmp_path), events.append)
    for flow in votes(1):
        recording(flow)
    await recording.end()
    assert kinds(events) == [ServiceEventKind.RECORDING_STOPPED, ServiceEventKind.RECORDED]
    assert recording.may_start_again


async def test_files_and_a_topic_are_written_at_a_time(tmp_path: Path) -> None:
    topic = TopicAddress.parse(f"captures@127.0.0.1:{free_port()}")
    config = RecordConfig(path=tmp_path / "one.avro", topic=topic)
    recording = ClusterRecording(config, lambda event: None)
    into_topic, into_files = recording.recorders
    assert isinstance(into_topic, TopicRecorder)
    assert not isinstance(into_files, TopicRecorder)
    await recording.end()


def modes_in(folder: Path) -> list[int]:
    return [mode_of(path) for path in folder.iterdir()]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("mode", [None, 0o640])
async def test_a_recording_is_private_whatever_the_umask(
    tmp_path: Path, mask: int, mode: int | None
) -> None:
    config = RecordConfig(path=tmp_path)
    if mode is not None:
        config = RecordConfig(path=tmp_path, mode=mode)
    expected = mode or 0o600
    with umask(mask):
        recording = ClusterRecording(config, lambda event: None)
        while_written = modes_in(tmp_path)
        for flow in votes(1):
            recording(flow)
        await recording.end()
    assert (while_written, modes_in(tmp_path)) == ([expected], [expected])


@pytest.mark.parametrize("show_secrets", [True, False])
async def test_a_recording_with_secrets_says_so(tmp_path: Path, show_secrets: bool) -> None:
    path = tmp_path / "one.avro"
    config = RecordConfig(path=path, show_secrets=show_secrets)
    recording = ClusterRecording(config, lambda event: None)
    for flow in votes(1):
        recording(flow)
    await recording.end()
    assert capture_info(path).shows_secrets is show_secrets
