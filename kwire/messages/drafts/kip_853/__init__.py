"""KIP-853 before it had VotersRecord: voters come and go by records of their own.

Two revisions of the KIP differ in the quorum state: the first has a replica's UUID in it, the later
one the voters with their UUIDs and the record up to which they are known. The page
docs/kip-853-earlier.md says what became of each message.
"""

from kwire.messages.drafts.kip_853.quorum_state_data import (
    QuorumStateDataWithAppliedRecord,
    QuorumStateDataWithReplicaUuid,
)
from kwire.messages.drafts.kip_853.voter_records import AddVoterRecord, RemoveVoterRecord

__all__ = [
    "AddVoterRecord",
    "QuorumStateDataWithAppliedRecord",
    "QuorumStateDataWithReplicaUuid",
    "RemoveVoterRecord",
]
