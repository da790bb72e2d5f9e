"""Voters that come back by themselves are told from those whose disk was replaced."""

from __future__ import annotations

from collections.abc import Sequence

from kwire.quorum_story.log_entry import LogEntry
from kwire.quorum_story.voter_changes import LATEST, VoterChanges

OLD, NEW = "xoZrnV3LRJyGGrIAjojYHw", "TFbonfnKSa-gjtSruuwLAw"


def entry(time: int, *voters: tuple[int, str], offset: int = 9) -> LogEntry:
    nodes = ", ".join(
        f"{id}=VoterNode(voterKey=ReplicaKey(id={id}, directoryId={directory}), listeners=...)"
        for id, directory in voters
    )
    text = f"[RaftManager id=1] {LATEST} VoterSet(voters={{{nodes}}}) at offset {offset}"
    return LogEntry(
        source="c1.log", line=1, time=time, dated=True, level="INFO", logger="", text=text
    )


def back(*entries: LogEntry) -> Sequence[dict[str, str]]:
    changes = VoterChanges()
    return [dict(details) for each in entries for details in changes.back(each)]


def test_a_voter_that_is_back_with_its_directory_is_told() -> None:
    both, one = ((1, OLD), (4, OLD)), ((1, OLD),)
    assert back(entry(0, *both), entry(60_000, *one), entry(61_200, *both)) == [
        {"voter": "4", "seconds": "1"}
    ]


def test_a_new_directory_is_a_disk_that_was_replaced() -> None:
    one = ((1, OLD),)
    assert back(entry(0, *one, (4, OLD)), entry(500, *one), entry(900, *one, (4, NEW))) == []


def test_a_history_that_a_node_reads_at_its_start_is_none() -> None:
    both, one = ((1, OLD), (4, OLD)), ((1, OLD),)
    assert back(entry(0, *both), entry(3, *one), entry(5, *both)) == []


def test_a_voter_that_is_back_much_later_was_added() -> None:
    both, one = ((1, OLD), (4, OLD)), ((1, OLD),)
    assert back(entry(0, *both), entry(60_000, *one), entry(3_660_000, *both)) == []


def test_voter_sets_that_a_node_reads_again_at_its_next_start_are_none() -> None:
    both, one = ((1, OLD), (4, OLD)), ((1, OLD),)
    changes = VoterChanges()
    sets = [entry(0, *both, offset=2), entry(60_000, *one, offset=9)]
    assert [changes.is_repeated(each) for each in sets] == [False, False]
    assert [changes.is_repeated(each) for each in sets] == [True, True]
    assert not changes.is_repeated(entry(62_000, *both, offset=12))
