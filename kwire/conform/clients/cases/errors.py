"""Errors that come once: what may succeed the next time is tried again, the rest is told."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.clients.case import VALUES, ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import DIFFERS, demand_records, demand_recovery
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import gives, once
from kwire.conform.vocabulary import Deviation, Skipped, guide
from kwire.error_codes import ErrorCode
from kwire.error_codes import name as error_name
from kwire.messages import FetchRequest, ListOffsetsRequest
from kwire.messages.registry import api_key, request

SECTION = ClientSection("client/errors", "Errors that come once")


def _recovers(api: type[Request], code: int) -> Callable[[Play], None]:
    def judge(play: Play) -> None:
        by_id = code in (ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.INCONSISTENT_TOPIC_ID)
        if by_id and play.scripted(api)[0].version < 13:
            raise Skipped("the client names topics by their names")
        demand_recovery(play, error_name(code))
        if api in (FetchRequest, ListOffsetsRequest):
            demand_records(play, VALUES)

    return judge


def _tells(api: type[Request], code: int) -> Callable[[Play], None]:
    def judge(play: Play) -> None:
        if play.ended_well:
            raise Deviation(f"the client tells of {error_name(code)}", play.end_text, DIFFERS)

    return judge


_RETRIED, _TOLD = "tries again", "tells of it"
_ERRORS = (
    (0, "Produce", "produce", _RETRIED, "UNKNOWN_TOPIC_OR_PARTITION NOT_LEADER_OR_FOLLOWER"),
    (0, "Produce", "produce", _RETRIED, "REQUEST_TIMED_OUT NOT_ENOUGH_REPLICAS UNKNOWN_TOPIC_ID"),
    (0, "Produce", "produce", _RETRIED, "KAFKA_STORAGE_ERROR"),
    (0, "Produce", "produce", _TOLD, "MESSAGE_TOO_LARGE TOPIC_AUTHORIZATION_FAILED"),
    (0, "Produce", "produce", _TOLD, "INVALID_RECORD 9999"),
    (200, "Fetch", "consume", _RETRIED, "OFFSET_OUT_OF_RANGE UNKNOWN_TOPIC_OR_PARTITION"),
    (200, "Fetch", "consume", _RETRIED, "NOT_LEADER_OR_FOLLOWER REPLICA_NOT_AVAILABLE"),
    (200, "Fetch", "consume", _RETRIED, "KAFKA_STORAGE_ERROR FENCED_LEADER_EPOCH UNKNOWN_TOPIC_ID"),
    (200, "Fetch", "consume", _RETRIED, "UNKNOWN_LEADER_EPOCH OFFSET_NOT_AVAILABLE"),
    (200, "Fetch", "consume", _RETRIED, "INCONSISTENT_TOPIC_ID"),
    (200, "Fetch", "consume", _TOLD, "TOPIC_AUTHORIZATION_FAILED"),
    (400, "ListOffsets", "consume", _RETRIED, "NOT_LEADER_OR_FOLLOWER FENCED_LEADER_EPOCH"),
    (400, "ListOffsets", "consume", _RETRIED, "OFFSET_NOT_AVAILABLE"),
    (600, "Metadata", "produce", _RETRIED, "UNKNOWN_TOPIC_OR_PARTITION LEADER_NOT_AVAILABLE"),
    (600, "Metadata", "produce", _TOLD, "TOPIC_AUTHORIZATION_FAILED"),
    (800, "InitProducerId", "produce", _RETRIED, "COORDINATOR_LOAD_IN_PROGRESS"),
    (1000, "CreateTopics", "admin", _RETRIED, "NOT_CONTROLLER"),
    (1000, "CreateTopics", "admin", _TOLD, "POLICY_VIOLATION"),
    (1200, "DescribeQuorum", "controllers", _RETRIED, "NOT_LEADER_OR_FOLLOWER"),
)
"""An API's first number, to which the code is added; its task; what a client does after errors."""
for base, name, word, deed, errors in _ERRORS:
    api, task = request(api_key(name)), ClientTask(word)
    for error in errors.split():
        code = int(error) if error.isdigit() else int(ErrorCode[error])
        SECTION[base + code % 200] = ClientCase(
            sentence=f"After {error_name(code)} for {name} a client {deed}.",
            source=guide("Error Codes"),
            task=task,
            may_fail=True,
            rules=once(api, gives(code, "topics" if name == "Metadata" else "")),
            judge=(_recovers if deed is _RETRIED else _tells)(api, code),
        )
