"""Printing happens elsewhere: in order, bounded, and without an end it must wait for."""

from contextvars import ContextVar
from functools import partial
from threading import Event

import pytest

from kwire.cli import printer
from kwire.cli.printer import WEIGHT_LIMIT, Printer, RepeatLimit


def test_jobs_run_in_order_and_all_of_them_before_the_end() -> None:
    done: list[int] = []
    with Printer(gone=lambda: None) as printing:
        for number in range(100):
            printing.put(partial(done.append, number))
    assert done == list(range(100))


def test_jobs_have_the_context_variables_of_who_made_the_printer() -> None:
    variable, seen = ContextVar("variable", default=0), list[int]()
    token = variable.set(1)
    with Printer(gone=lambda: None) as printing:
        printing.put(lambda: seen.append(variable.get()))
    variable.reset(token)
    assert seen == [1]


def test_what_waits_is_bounded_and_the_rest_is_counted() -> None:
    blocked, begun = Event(), Event()
    done: list[int] = []

    def wait() -> None:
        begun.set()
        blocked.wait()

    with Printer(gone=lambda: None) as printing:
        printing.put(wait)
        begun.wait()
        for number in range(4):
            printing.put(partial(done.append, number), WEIGHT_LIMIT // 2)
        blocked.set()
    assert done == [0, 1]
    assert printing.dropped == 2


def test_a_reader_that_has_gone_is_told_once() -> None:
    told: list[bool] = []

    def broken() -> None:
        raise BrokenPipeError

    with Printer(gone=lambda: told.append(True)) as printing:
        printing.put(broken)
        printing.put(broken)
    assert told == [True]


def test_an_output_that_takes_nothing_does_not_hold_up_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(printer, "PATIENCE", 0.05)
    never = Event()
    with Printer(gone=lambda: None) as printing:
        printing.put(lambda: [never.wait()].clear())
    never.set()


def test_what_repeats_is_shown_now_and_then_with_the_number_between() -> None:
    limit = RepeatLimit(pause=3)
    assert limit.passes(("Fetch", "1 → 3000"), at=10.0) == 0
    assert [limit.passes(("Fetch", "1 → 3000"), at=10.5 + i) for i in range(3)] == [None] * 3
    assert limit.passes(("Fetch", "2 → 3000"), at=12.5) == 0
    assert limit.passes(("Fetch", "1 → 3000"), at=13.5) == 3
    assert limit.passes(("Fetch", "1 → 3000"), at=17.0) == 0
