"""The versions that `make` installs: a user of the oldest Python can have all of them."""

from importlib.metadata import distributions

import constraints


def test_what_is_installed_runs_on_the_oldest_python() -> None:
    pinned = constraints.written()
    late = {
        found.name: found.metadata["Requires-Python"]
        for found in distributions()
        if constraints.canonical(found.name) in pinned
        and not constraints.runs_on_oldest(
            {"requires_python": found.metadata["Requires-Python"] or ""}
        )
    }
    assert late == {}


def test_a_version_that_wants_a_later_python_is_found() -> None:
    # As pymdown-extensions 13.0 has it, in pip's report.
    assert not constraints.runs_on_oldest({"requires_python": ">=3.11.5"})
    assert constraints.runs_on_oldest({"requires_python": ">=3.10"})
    assert constraints.runs_on_oldest({})
