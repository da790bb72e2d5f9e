"""quorum-state: the epoch, the leader and the vote that a replica must not forget (KIP-595).

One line of JSON: a QuorumStateData and its version. Version 1 came with KIP-853 and names the
directory of the vote instead of the static voters.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kwire.codec.json_form import from_json, to_json
from kwire.errors import EncodeError, FileError
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import QUORUM_STATE
from kwire.messages.data.quorum_state_data import QuorumStateData

VERSION_MEMBER = "data_version"

LAST_EPOCH = (1 << 31) - 1
"""The greatest epoch that messages can carry: no election can follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumState:
    """Return the content of the file and its version: 1 if kraft.version is 1."""

    data: QuorumStateData
    version: int

    def encode(self) -> bytes:
        """Return the line, byte for byte as Kafka writes it."""
        members = to_json(self.data, self.version) | {VERSION_MEMBER: self.version}
        return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


def parse_quorum_state(data: bytes, file: Path) -> QuorumState:
    """FileError where the line is no QuorumStateData; a replica must then not vote."""
    try:
        members: Any = json.loads(data.split(b"\n", 1)[0].decode())
    except (ValueError, RecursionError) as error:
        raise FileError(f"not JSON: {error}", file=file) from None
    if not isinstance(members, dict) or type(members.get(VERSION_MEMBER)) is not int:
        raise FileError(f"no JSON object with a {VERSION_MEMBER}", file=file)
    version = members.pop(VERSION_MEMBER)
    if version not in QuorumStateData.versions:
        raise FileError(f"{VERSION_MEMBER} {version} is not known", file=file)
    try:
        content = from_json(QuorumStateData, members, version)
    except EncodeError as error:
        raise FileError(str(error), file=file) from None
    # name, value, and the least that there is: -1 is for no leader and no vote.
    numbers = [
        ("leaderEpoch", content.leader_epoch, 0),
        ("leaderId", content.leader_id, -1),
        ("votedId", content.voted_id, -1),
        *(("voterId", voter.voter_id, 0) for voter in content.current_voters or ()),
    ]
    for name, value, least in numbers:
        if value < least:
            raise FileError(f"line 1: {name} is {value}, below {least}", file=file)
    return QuorumState(data=content, version=version)


def read_quorum_state(folder: Path, fs: FileSystem = DISK) -> QuorumState | None:
    """Return the state in a metadata folder; None for a replica that never voted."""
    file = folder / QUORUM_STATE
    return parse_quorum_state(fs.read_file(file), file) if fs.exists(file) else None


def write_quorum_state(folder: Path, state: QuorumState, fs: FileSystem = DISK) -> None:
    """Replace the state; it is on the disk when this returns, so that a vote may be answered."""
    fs.replace_file(folder / QUORUM_STATE, state.encode())
