"""`kwire quorum`: the metadata quorum and its voters; commands are imported when called."""

from __future__ import annotations

from kwire.cli.lazy import command_group

app = command_group(
    "Describe the metadata quorum and change its voters (KIP-853).\n\n"
    "If it is stuck: kwire quorum explain. If the disks of most voters are lost, or no address is"
    " right: kwire storage recover.",
    {
        "status": "kwire.cli.quorum.describe:describe_quorum_status",
        "replication": "kwire.cli.quorum.describe:describe_quorum_replication",
        "check": "kwire.cli.quorum.check:check",
        "explain": "kwire.cli.quorum.explain:explain",
        "upgrade": "kwire.cli.quorum.upgrade:upgrade",
        "add-controller": "kwire.cli.quorum.voters:add_raft_voter",
        "remove-controller": "kwire.cli.quorum.voters:remove_raft_voter",
        "replace": "kwire.cli.quorum.replace_voter:replace_voter",
        "forget": "kwire.cli.quorum.forget:unregister_controller",
    },
)
