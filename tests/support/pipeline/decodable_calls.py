"""Records of a few calls whose frames decode, for captures made by hand."""

from pathlib import Path

from kwire.capture import NOTICE, REQUEST, RESPONSE, CaptureRecord
from kwire.codec.declaration import Request, Response
from kwire.messages import a52_vote as vote
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.net.frames import encode_request, encode_response
from tests.support.capture.capture_records import record, write

SECOND = 1_000_000
_SIZE = 4


def call(event: int, *, seconds: int = 0) -> tuple[CaptureRecord, CaptureRecord]:
    """A Vote where the number of the event is even, else ApiVersions; and its response."""
    asked: Request
    answered: Response
    if event % 2:
        version, asked, answered = 4, ApiVersionsRequest(), ApiVersionsResponse(error_code=35)
    else:
        partition = vote.PartitionData(replica_id=event % 3, replica_epoch=event)
        topic = vote.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        version, asked, answered = 2, vote.VoteRequest(topics=[topic]), vote.VoteResponse()
    at = record(event).at_us + seconds * SECOND
    frames = {
        REQUEST: encode_request(asked, version, correlation_id=event, client_id="till"),
        RESPONSE: encode_response(answered, version, correlation_id=event),
    }
    request, response = (
        record(
            event,
            kind=kind,
            api_key=type(asked).key,
            api_version=version,
            at_us=at + (kind == RESPONSE) * 500,
            frame=frame[_SIZE:],
            size=len(frame) - _SIZE,
            ending="ANSWERED" if kind == REQUEST else None,
        )
        for kind, frame in frames.items()
    )
    return request, response


def notice(event: int, kind: str = "OPENED") -> CaptureRecord:
    """A notice about the connection of the calls."""
    return record(event, kind=NOTICE, frame=None, size=None, notice=kind, text="opened")


def write_captures(folder: Path, captures: int = 4, calls: int = 30) -> None:
    """Captures one after the other, in which every tenth response comes in the next one."""
    late: list[CaptureRecord] = []
    for number in range(captures):
        records, late = [*late, notice(1_000_000 + number)], []
        for event in range(number * calls, (number + 1) * calls):
            request, response = call(event, seconds=event)
            held = event % 10 == 9 and number < captures - 1
            records.append(request)
            (late if held else records).append(response)
        cut = record(2_000_000 + number, frame=b"\0\x34\0\2cut", size=900, ending="LOST")
        records.append(cut)
        write(folder / f"night-{number}.avro", records)
