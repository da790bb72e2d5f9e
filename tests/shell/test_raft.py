"""`/raft`: voters, kraft.version and leaders, and short paths, in the shell."""

from pathlib import Path

from kwire.shell import DirectorySource
from kwire.shell.short_paths import whole_path
from tests.support.metadata_history.logs import WrittenLog
from tests.support.paths import FIXTURES
from tests.support.shell.sessions import Session

LOGS = FIXTURES / "logdirs"


def test_raft_has_voters_level_and_leaders() -> None:
    with DirectorySource(LOGS / "kafka-3.9.1-history") as source:
        session = Session(source)
        assert session("ls /raft") == ["kraftVersion", "leader", "leaderChanges", "voters"]
        assert session("cat /raft/kraftVersion /raft/leader") == ["1", "1"]
        assert session("ls /raft/leaderChanges /voters") == [
            "/raft/leaderChanges:",
            "1",
            "2",
            "",
            "/raft/voters:",
            "1",
        ]
        # Offset and time of Kafka's dump.
        assert session("cat /raft/leaderChanges/2") == [
            "LeaderChange(leaderId=1, offset=22, time=2026-11-28T02:59:31.454Z, voters=[1],"
            " grantingVoters=[1])"
        ]
        session("at 21")
        assert session("ls /raft/leaderChanges") == ["1"]


def test_a_checkpoint_hides_no_leaders_that_the_log_still_has() -> None:
    with DirectorySource(LOGS / "kafka-4.3.1") as source:
        session = Session(source)
        assert session("ls /raft/leaderChanges") == ["1"]
        session("cat /raft/leadersKnownFrom")
        assert not session.succeeded


def test_leaders_before_a_checkpoint_are_said_to_be_unknown(tmp_path: Path) -> None:
    for name in ("00000000000000000178-0000000001.checkpoint", "00000000000000000116.log"):
        data = (LOGS / "kafka-4.3.1" / "__cluster_metadata-0" / name).read_bytes()
        (tmp_path / name).write_bytes(data)
    with DirectorySource(tmp_path) as source:
        session = Session(source)
        assert session("ls /raft/leaderChanges") == []
        assert session("cat /raft/leadersKnownFrom") == ["116"]
        assert session("ls /voters") == ["1"]


def test_voters_of_a_static_quorum_have_no_endpoints_in_the_log(tmp_path: Path) -> None:
    log = WrittenLog(tmp_path)
    log.lead(3001, epoch=4, voters=(3001, 3002))
    log.save()
    with DirectorySource(tmp_path) as source:
        session = Session(source)
        assert session("ls /voters") == ["3001", "3002"]
        assert session("cat /voters/3002") == ["Voter(directoryId=Optional.empty, endpoints=null)"]


def test_short_paths_are_whole_ones() -> None:
    assert whole_path(["topics", "orders"]) == ["image", "topics", "byName", "orders"]
    assert whole_path(["partitions", "a-b-3", "x"]) == [
        "image",
        "topics",
        "byName",
        "a-b",
        "3",
        "x",
    ]
    assert whole_path(["image", "acls"]) == ["image", "acls"]
    assert whole_path([]) == []
    with DirectorySource(LOGS / "kafka-4.3.1-brokers") as source:
        session = Session(source)
        assert session("cat /partitions/orders-0") == session("cat /image/topics/byName/orders/0")
        session("cd /topics/orders")
        assert session("pwd") == ["/image/topics/byName/orders"]
        assert session.shell.complete("ls /topics/or") == ["/topics/orders/"]
