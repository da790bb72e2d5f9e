"""A play that does not end says in which code it was."""

import asyncio
import signal
import threading
from pathlib import Path

import pytest

from virtual_nodes.play import play
from virtual_nodes.real_time_guard import SIGNAL, PlayHangs, real_time_guard
from virtual_nodes.scenarios import Scenario
from virtual_nodes.world import World


async def loops_within_a_callback(world: World) -> None:
    """Never return to the event loop; time is up when that has begun, however slow the start."""
    main = threading.main_thread().ident or 0
    threading.Timer(0.05, signal.pthread_kill, (main, SIGNAL)).start()
    while True:
        pass


async def waits_for_nothing(world: World) -> None:
    """Let virtual time pass for ever."""
    while True:  # noqa: ASYNC110
        await asyncio.sleep(0.001)


# A callback of the interpreter's own may meet the signal, and swallow it: the signal comes again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("scenario", "patience"), [(loops_within_a_callback, 60.0), (waits_for_nothing, 0.5)]
)
def test_a_play_that_does_not_end_is_ended(
    scenario: Scenario, patience: float, tmp_path: Path
) -> None:
    result = play(scenario, 1, tmp_path, patience=patience)
    (violation,) = result.violations
    assert violation.startswith("HANGS")
    if scenario is loops_within_a_callback:
        assert "in loops_within_a_callback" in violation


def test_the_guard_leaves_the_signal_as_it_was() -> None:
    before = signal.getsignal(SIGNAL)
    with real_time_guard(60.0):
        assert signal.getsignal(SIGNAL) is not before
    assert signal.getsignal(SIGNAL) is before


def test_an_expired_guard_raises_its_own_error() -> None:
    def go_round() -> None:
        with real_time_guard(0.05):
            while True:
                pass

    with pytest.raises(PlayHangs, match="in go_round"):
        go_round()
