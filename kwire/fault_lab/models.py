"""The models of the workload's keys: what a topic, a configuration, a voter and an offset are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from kwire.fault_lab.history import Fate, RecordedOperation
from kwire.fault_lab.linearizable import SequentialModel

SOME_ID = "?"
"""The id of a topic whose creation was not answered."""


class TopicModel:
    """A topic by its name: None, or its id and how many partitions it has.

    create, probe (a creation that is only validated), delete, grow (CreatePartitions), read.
    """

    name = "topic"
    initial: Hashable = None

    def is_read(self, operation: RecordedOperation) -> bool:
        """True for probes and reads, and for what was refused."""
        return operation.kind in ("probe", "read") or operation.fate is Fate.REFUSED

    def steps(self, state: Any, operation: RecordedOperation) -> Sequence[Hashable]:
        """Return the states after it; see SequentialModel."""
        match operation.fate, operation.kind:
            case Fate.REFUSED, _:
                return [state] if _refused(state, operation) else []
            case _, "probe":
                return [state] if state is None else []
            case _, "create":
                id = operation.result if operation.fate is Fate.OK else SOME_ID
                return [(id, operation.value)] if state is None else []
            case _, "delete":
                return [] if state is None else [None]
            case _, "grow":
                grows = state is not None and operation.value > state[1]
                return [(state[0], operation.value)] if grows else []
        return self._read(state, operation.result)

    def _read(self, state: Any, result: Any) -> Sequence[Hashable]:
        if result is None or state is None:
            return [state] if result is None and state is None else []
        id, partitions = result
        same = state[0] in (SOME_ID, id) and partitions == state[1]
        return [(id, partitions)] if same else []


def _refused(state: Any, operation: RecordedOperation) -> bool:
    """Return True if a topic in this state gives that error."""
    if operation.result == "TOPIC_ALREADY_EXISTS":
        return state is not None
    if operation.result == "UNKNOWN_TOPIC_OR_PARTITION":
        return state is None
    if operation.result == "INVALID_PARTITIONS":
        return state is not None and operation.value <= state[1]
    return False


class RegisterModel:
    """A value that is set and read: configuration keys, committed offsets."""

    def __init__(self, name: str, initial: Hashable = None) -> None:
        self.name = name
        self.initial = initial

    def is_read(self, operation: RecordedOperation) -> bool:
        """True for reads."""
        return operation.kind == "read"

    def steps(self, state: Hashable, operation: RecordedOperation) -> Sequence[Hashable]:
        """Return the states after it; see SequentialModel."""
        if operation.kind == "set":
            return [operation.value] if operation.fate is not Fate.REFUSED else []
        return [state] if operation.result == state else []


class VoterModel:
    """A controller that is one of the voters, or is not."""

    name = "voter"
    initial: Hashable = False

    def is_read(self, operation: RecordedOperation) -> bool:
        """True for reads, and for what was refused."""
        return operation.kind == "read" or operation.fate is Fate.REFUSED

    def steps(self, state: Hashable, operation: RecordedOperation) -> Sequence[Hashable]:
        """Return the states after it; see SequentialModel."""
        if operation.fate is Fate.REFUSED:
            is_voter = {"DUPLICATE_VOTER": True, "VOTER_NOT_FOUND": False}
            return [state] if is_voter.get(operation.result) == state else []
        if operation.kind == "read":
            return [state] if operation.result == state else []
        added = operation.kind == "add"
        return [added] if state is not added else []


MODELS: dict[str, SequentialModel] = {
    "topic": TopicModel(),
    "config": RegisterModel("config"),
    "offset": RegisterModel("offset"),
    "voter": VoterModel(),
}
"""The model of each kind of key; a key is written `topic:NAME`."""
