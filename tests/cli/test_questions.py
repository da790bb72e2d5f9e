"""Questions on a terminal: Ctrl-C ends the command, and a secret is never shown."""

from functools import partial

from tests.support.cli.command import Command
from tests.support.cli.terminal import ended, is_asleep, session
from tests.support.eventually import eventually_blocking

NOWHERE = ("--bootstrap-server", "127.0.0.1:1")


def test_ctrl_c_at_a_question_is_130_and_a_no_is_1() -> None:
    for answer, code in (("\x03", 130), ("n\n", 1)):
        with session("topics", "delete", "orders", *NOWHERE) as (terminal, pid):
            terminal.shows("[y/N]:")
            eventually_blocking(partial(is_asleep, pid))
            terminal.type(answer)
            assert ended(pid) == code


def test_nothing_of_a_password_is_shown_between_its_two_prompts() -> None:
    with session("scram", "set", "alice", "--timeout", "1", *NOWHERE) as (terminal, pid):
        eventually_blocking(lambda: not terminal.echoes)
        terminal.shows("Password:")
        terminal.type("kept-in-a-safe\n")
        shown = terminal.shows("epeat")
        assert not terminal.echoes
        terminal.shows(":")
        terminal.type("kept-in-a-safe\n")
        shown += terminal.shows("Error:")
        assert terminal.echoes
        assert "kept" not in shown
        ended(pid)


def test_a_voter_is_removed_only_after_a_yes(kwire: Command) -> None:
    run = kwire("quorum", "remove-controller", "3003", "--bootstrap-controller", "127.0.0.1:1")
    assert run.code == 2
    assert "Take controller 3003 out of the voters? Not a terminal: confirm with --yes." in run.err
