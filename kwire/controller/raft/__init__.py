"""KRaft: replicas agree on one log, without IO, clock or chance of their own (KIP-595, KIP-853).

    raft = Raft(config, log, election, below=random.randrange)
    for effect in raft.step(Start(), now): …

`step` takes an *event* and returns *effects*: files `events` and `effects`; those for the log of a
node are in `quorum_events`. A replica is in one of six *roles* (`roles`), goes from one to another
by `transitions` and does what is due by `poll`. Each RPC is one file in `rpc/`. The *log* is read
through `Log` and written by effects; `control_record_state_machine` knows the voters in it.

KIP-853, by its sections:

"Replica directory ID"              replica_key.py
"Supported features"                voter_set.py
"Voter changes"                     voter_change.py
"Adding voters"                     rpc/add_raft_voter.py
"Removing voters"                   rpc/remove_raft_voter.py
"Endpoints information"             endpoints.py
"Set of voters"                     control_record_state_machine.py
"Bootstrap-servers"                 request_manager.py
"Leader election"                   transitions.py
"First leader"                      leader_records.py
"Automatic endpoint and directory id discovery" rpc/update_raft_voter.py
"High watermark"                    high_watermark.py
"Snapshots"                         control_record_state_machine.py
"Internal listener"                 control_record_state_machine.py
"KRaft version feature"             kraft_version_upgrade.py
"Controller auto joining"           poll.py
"Configuration"                     config.py
"Log and snapshot control records"  control_record_state_machine.py
"KRaftVersionRecord"                control_record_state_machine.py
"LeaderChangeMessage"               leader_records.py
"VotersRecord"                      voter_set.py
"Quorum state"                      election_state.py
"UpdateFeatures"                    kraft_version_upgrade.py
"AddVoter"                          rpc/add_raft_voter.py
"RemoveVoter"                       rpc/remove_raft_voter.py
"UpdateVoter"                       rpc/update_raft_voter.py
"Vote"                              rpc/vote.py
"BeginQuorumEpoch"                  rpc/begin_quorum_epoch.py
"EndQuorumEpoch"                    rpc/end_quorum_epoch.py
"Fetch"                             rpc/fetch.py
"FetchSnapshot"                     rpc/fetch_snapshot.py
"DescribeQuorum"                    rpc/describe_quorum.py
"Monitoring"                        metrics.py

Kafka calls AddVoter, RemoveVoter and UpdateVoter AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter.
UpdateFeatures comes in at `kwire.controller.handlers.update_features`. The sections "Admin client"
and "Command line interface" are in `kwire.admin` and `kwire.cli` (quorum.py, storage.py).
"""

from kwire.controller.raft.config import Config
from kwire.controller.raft.dispatch import API_KEYS
from kwire.controller.raft.effects import (
    Appended,
    AppendLog,
    BecomeLeader,
    Commit,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    PersistElection,
    RaftEffect,
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
from kwire.controller.raft.events import (
    Append,
    LogFlushed,
    RaftEvent,
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
from kwire.controller.raft.metrics import RaftMetrics
from kwire.controller.raft.quorum_events import QuorumEvent
from kwire.controller.raft.raft import Raft
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.controller.raft.rpc.fetch import CommittedDataLost
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
    "ElectionState",
    "Endpoints",
    "FlushLog",
    "InstallSnapshot",
    "LeaderChanged",
    "ListenerEndpoint",
    "Log",
    "LogFlushed",
    "OffsetAndEpoch",
    "PeerNode",
    "PersistElection",
    "QuorumEvent",
    "Raft",
    "RaftEffect",
    "RaftEvent",
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
