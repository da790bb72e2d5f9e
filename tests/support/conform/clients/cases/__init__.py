"""Bad clients, a module a section: each fails the cases that FAULTS names, by id or beginning."""

from importlib import import_module

from tests.support.conform.clients.model_client import ModelClient

SECTIONS = "start versions headers metadata errors backoff throttling bootstrap connections"


def all_faults() -> dict[str, type[ModelClient]]:
    """Return the bad client of each case, or of all cases below an id."""
    faults: dict[str, type[ModelClient]] = {}
    for name in SECTIONS.split():
        faults |= import_module(f"tests.support.conform.clients.cases.{name}").FAULTS
    return faults


def fault_of(case_id: str) -> type[ModelClient]:
    """Return the bad client of a case. Raises KeyError."""
    faults = all_faults()
    return faults[case_id] if case_id in faults else faults[case_id.rpartition("/")[0]]
