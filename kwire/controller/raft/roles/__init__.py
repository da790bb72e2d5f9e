"""The six roles of a replica, one file each, with the state that lasts as long as the role.

unattached   knows no leader that it can reach; an observer stays so until it finds one
prospective  asks whether it could win an election, in its present epoch (KIP-996)
candidate    stands for election in an epoch of its own
follower     fetches from a leader, as a voter or as an observer
leader       appends, answers fetches, commits
resigned     was leader in this epoch and tells the others to elect another one
"""

from kwire.controller.raft.roles.candidate import Candidate
from kwire.controller.raft.roles.follower import Follower
from kwire.controller.raft.roles.leader import Leader
from kwire.controller.raft.roles.prospective import Prospective
from kwire.controller.raft.roles.resigned import Resigned
from kwire.controller.raft.roles.role import Role
from kwire.controller.raft.roles.unattached import Unattached

__all__ = ["Candidate", "Follower", "Leader", "Prospective", "Resigned", "Role", "Unattached"]
