"""After a move the files of fixtures/kips have the new names."""

from kips.moves import renamed

MOVED = {
    "kwire/old/poll.py": "kwire/raft/poll.py",
    "tests/old/test_poll.py": "tests/raft/test_poll.py",
}


def test_modules_tests_and_functions_are_named_anew() -> None:
    before = (
        "[kwire/old/poll.py, kwire/old/other.py] old/test_poll.py::test_x kwire.old.poll:handle"
    )
    after = (
        "[kwire/raft/poll.py, kwire/old/other.py] raft/test_poll.py::test_x kwire.raft.poll:handle"
    )
    assert renamed(before, MOVED) == after
