"""The commands of a session."""

import json
from uuid import UUID

import pytest

from kwire.errors import InvalidValue
from kwire.messages.records.topic import TopicRecord
from kwire.shell.listing import columns
from kwire.shell.shell import split
from tests.support.shell.sessions import Session, session_of


@pytest.fixture
def session() -> Session:
    return session_of(
        TopicRecord(name="orders", topic_id=UUID(int=1)),
        TopicRecord(name="payments", topic_id=UUID(int=2)),
    )


def test_cd_pwd_and_relative_paths(session: Session) -> None:
    session("cd image/topics")
    assert session("pwd") == ["/image/topics"]
    assert session("ls") == ["byId", "byName"]
    session("cd byName/../byName/ord*")
    assert session("pwd") == ["/image/topics/byName/orders"]
    assert session("cat name ../payments/name") == ["orders", "payments"]
    assert session.shell.prompt == "/image/topics/byName/orders> "
    session("cd")
    assert session("pwd") == ["/"]
    session("cd /local/version")
    assert not session.succeeded
    assert session.complaints == ["cd: /local/version: not a directory."]
    with pytest.raises(InvalidValue, match="stands for 2 nodes"):
        session("cd /image/topics/byName/*")


def test_ls_lists_values_first_and_names_folders(session: Session) -> None:
    assert session("ls /local/version /image/topics/byName/*") == [
        "/local/version",
        "",
        "/image/topics/byName/orders:",
        "id",
        "name",
        "",
        "/image/topics/byName/payments:",
        "id",
        "name",
    ]


def test_a_missing_path_is_a_complaint_and_the_others_are_answered(session: Session) -> None:
    for command in ("ls", "cat", "find", "tree"):
        assert session(f"{command} /local/version /nix /image/topics/byName/x*")
        assert not session.succeeded
        assert session.complaints == [
            f"{command}: /nix: no such file or directory.",
            f"{command}: /image/topics/byName/x*: no such file or directory.",
        ]


def test_json_has_the_place_and_a_row_for_each_path(session: Session) -> None:
    answer = json.loads("".join(session("cat --json /image/topics/byName/orders/name /nix /image")))
    assert (answer["offset"], answer["epoch"]) == (41, 7)
    assert (answer["timeMs"], answer["time"]) == (1_700_000_000_000, "2023-11-14T22:13:20.000Z")
    assert answer["nodes"][0] == {"path": "/image/topics/byName/orders/name", "value": "orders"}
    assert [row.get("error") for row in answer["nodes"]] == [None, "NOT_FOUND", "IS_A_FOLDER"]
    answer = json.loads("".join(session("find --json /image/topics/byName/orders")))
    assert [(row["path"].rpartition("/")[2], row["kind"]) for row in answer["nodes"]] == [
        ("orders", "folder"),
        ("id", "value"),
        ("name", "value"),
    ]


def test_at_shows_the_place_and_keeps_it(session: Session) -> None:
    place = "offset 41, epoch 7, time 2023-11-14T22:13:20.000Z"
    assert session("at") == session("cat /image/provenance") == [place]
    assert session("at 41") == [place]
    assert session.shell.prompt == "/ @41> "
    session("at latest")
    assert session.shell.prompt == "/> "
    with pytest.raises(InvalidValue, match=r"cannot show offset 42: it has offset 41 only"):
        session("at 42")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("rm /", "'rm' is no command"),
        ("cat", "write: cat"),
        ("cd a b", "write: cd"),
        ("ls --json", "prints no JSON"),
        ("at soon", "no offset"),
        ("at -1", "no offset"),
        ("man rm", "'rm' is no command"),
        ("history x", "no number"),
        ("ls 'a", "quotation mark"),
        ("ls {a", "brace"),
    ],
)
def test_wrong_words_are_one_sentence(session: Session, line: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason):
        session(line)


def test_help_history_and_exit(session: Session) -> None:
    assert any(line.startswith("at [OFFSET|latest]") for line in session("help"))
    assert session("man cat") == session("help cat")
    assert session("  ") == []
    assert session("history 2") == ["    2  help cat", "    3  history 2"]
    assert not session.shell.has_ended
    session("exit")
    assert session.shell.has_ended


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "",
            [
                "at ",
                "cat ",
                "cd ",
                "exit ",
                "find ",
                "help ",
                "history ",
                "ls ",
                "man ",
                "pwd ",
                "tree ",
            ],
        ),
        ("h", ["help ", "history "]),
        ("man c", ["cat", "cd"]),
        ("ls /i", ["/image/"]),
        ("ls ", ["image/", "local/", "raft/"]),
        ("cat local/v", ["local/version"]),
        ("cd local/", []),
        (
            "ls /image/topics/byName/orders /image/topics/byName/p",
            ["/image/topics/byName/payments/"],
        ),
        ("ls /nix/", []),
        ("ls /*/", []),
        ("cat 'local/v", ["local/version"]),
        ("pwd ", []),
        ("rm /", []),
    ],
)
def test_completion(session: Session, line: str, words: list[str]) -> None:
    assert session.shell.complete(line) == words


def test_quotation_marks_keep_spaces_and_backslashes_are_left_to_globs() -> None:
    assert split(r"cat 'a b' c\*d # e") == ["cat", "a b", r"c\*d", "#", "e"]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["a", "bbbb", "cc", "d", "e"]),
        (3, ["a", "bbbb", "cc", "d", "e"]),
        (13, ["a     cc  e", "bbbb  d"]),
        (40, ["a  bbbb  cc  d  e"]),
    ],
)
def test_names_stand_in_columns(width: int | None, lines: list[str]) -> None:
    assert list(columns(["a", "bbbb", "cc", "d", "e"], width)) == lines
    assert list(columns([], width)) == []
