"""Faults of what is done after an error."""

from collections.abc import Sequence
from typing import Any

from kwire.conform.clients.cases.errors import SECTION
from tests.support.conform.clients.model_client import ModelClient, demand


class Quitter(ModelClient):
    """Tries nothing again."""

    def may_repeat(self, error: Exception) -> bool:
        """Never."""
        return False

    def take_records(self, part: Any) -> Sequence[str]:
        """Return the values of a partition's records. Raises Refused."""
        demand(part.error_code)
        return super().take_records(part)


class Stubborn(ModelClient):
    """Tries everything again."""

    def may_repeat(self, error: Exception) -> bool:
        """Always."""
        return True


TOLD = [case.id for case in SECTION if "tells" in case.sentence]
FAULTS = {"client/errors": Quitter, **dict.fromkeys(TOLD, Stubborn)}
