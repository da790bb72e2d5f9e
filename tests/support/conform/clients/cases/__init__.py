"""Bad clients, a module a section: each fails the cases that FAULTS names, by id or beginning."""

from importlib import import_module

from kwire.conform.clients.case import ClientCase, ClientTask
from tests.support.conform.clients.members import Member
from tests.support.conform.clients.model_client import ModelClient
from tests.support.conform.clients.transactional import TransactionalClient

SECTIONS = "start versions headers metadata errors backoff throttling bootstrap connections "
SECTIONS += "sequences transactions groups consumer_groups fetching login hostile"


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


def model_of(case: ClientCase) -> type[ModelClient]:
    """Return the careful client of a case."""
    models: dict[ClientTask, type[ModelClient]] = {
        ClientTask.TRANSACTION: TransactionalClient,
        ClientTask.GROUP: Member,
        ClientTask.GROUP_CONSUMER: Member,
    }
    return PatientClient if case.id == "client/login/4" else models.get(case.task, ModelClient)


class PatientClient(ModelClient):
    """Waits long enough for records that come after a session has ended."""

    limit = 10.0
