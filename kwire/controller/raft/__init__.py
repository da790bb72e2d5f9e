"""KRaft: replicas agree on one log, without IO, clock or chance of their own (KIP-595, KIP-853).

    raft = Raft(config, log, election, below=random.randrange)
    for effect in raft.step(Start(), now): …

`step` takes an *event* and returns *effects*: files `events` and `effects`. A replica is in one of
six *roles* (`roles/`), goes from one to another by `transitions` and does what is due by `poll`.
Each RPC is one file in `rpc/`. The *log* is read through `Log` and written by effects;
`control_record_state_machine` knows the voters that it names.
"""

from kwire.controller.raft.config import Config
from kwire.controller.raft.dispatch import API_KEYS
from kwire.controller.raft.effects import (
    Appended,
    AppendLog,
    BecomeLeader,
    Commit,
    Effect,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    PersistElection,
    Rejected,
    Reply,
    ResignLeader,
    Send,
    ShutdownComplete,
    TruncateLog,
    WriteSnapshot,
)
from kwire.controller.raft.election_state import ElectionState
from kwire.controller.raft.endpoints import Endpoints, ListenerEndpoint, PeerNode
from kwire.controller.raft.errors import CommittedDataLost
from kwire.controller.raft.events import (
    Append,
    Event,
    LogFlushed,
    Replaying,
    RequestFailed,
    RequestReceived,
    Resign,
    ResponseReceived,
    Shutdown,
    SnapshotInstalled,
    SnapshotTaken,
    Start,
    Tick,
    UpgradeKRaftVersion,
)
from kwire.controller.raft.log import Log
from kwire.controller.raft.memory_log import MemoryLog
from kwire.controller.raft.metrics import RaftMetrics
from kwire.controller.raft.raft import Raft
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.voter_set import Voter, VoterSet
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch

__all__ = [
    "API_KEYS",
    "BOOTSTRAP_SNAPSHOT",
    "Append",
    "AppendLog",
    "Appended",
    "BecomeLeader",
    "Commit",
    "CommittedDataLost",
    "Config",
    "Effect",
    "ElectionState",
    "Endpoints",
    "Event",
    "FlushLog",
    "InstallSnapshot",
    "LeaderChanged",
    "ListenerEndpoint",
    "Log",
    "LogFlushed",
    "MemoryLog",
    "OffsetAndEpoch",
    "PeerNode",
    "PersistElection",
    "Raft",
    "RaftMetrics",
    "Rejected",
    "Replaying",
    "ReplicaKey",
    "Reply",
    "RequestFailed",
    "RequestReceived",
    "Resign",
    "ResignLeader",
    "ResponseReceived",
    "Send",
    "Shutdown",
    "ShutdownComplete",
    "SnapshotInstalled",
    "SnapshotTaken",
    "Start",
    "Tick",
    "TruncateLog",
    "UpgradeKRaftVersion",
    "Voter",
    "VoterSet",
    "WriteSnapshot",
]
