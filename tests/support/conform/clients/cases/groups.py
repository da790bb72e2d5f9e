"""Faults of members of classic groups."""

from kwire.conform.clients.cases.groups import SECTION
from tests.support.conform.clients.members import Member
from tests.support.conform.clients.model_client import ModelClient, Refused


class Leaving(Member):
    """Gives up after each error."""

    def may_repeat(self, error: Exception) -> bool:
        """Never."""
        return False

    async def leave_for(self, error: Refused) -> None:
        """Give up."""
        raise error


class Boasting(Member):
    """Says that it committed, whatever came."""

    async def commit(self) -> None:
        """Commit, and take every answer for a good one."""
        try:
            await super().commit()
        except Refused:
            self.is_joined = False


class Storming(Member):
    """Tries everything again at once."""

    limit = 2.0

    def may_repeat(self, error: Exception) -> bool:
        """Always."""
        return True

    async def pause(self, seconds: float) -> None:
        """Not at all."""


def of_numbers(numbers: range, section: str = "client/groups") -> list[str]:
    """Return the ids of these cases."""
    return [f"{section}/{number}" for number in numbers]


REFUSED = [case.id for case in SECTION if case.id in of_numbers(range(30, 40))]
NO_MEMBERS = [case.id for case in SECTION if case.id in of_numbers(range(40, 50))]
FAULTS: dict[str, type[ModelClient]] = {
    "client/groups": Leaving,
    **dict.fromkeys(REFUSED, Boasting),
    **dict.fromkeys(NO_MEMBERS, Storming),
}
