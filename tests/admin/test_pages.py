"""The pages about admin operations say what the registry says."""

import pytest

from admin_pages.__main__ import DOCS, PAGES
from admin_pages.tables import filled
from kwire.admin.registry import OPERATIONS
from kwire.cli.main import COMMANDS


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_the_registry_gives(name: str) -> None:
    page = (DOCS / name).read_text()
    assert page == filled(page)


def test_every_command_of_the_registry_is_there() -> None:
    groups = {row.command.split()[0] for row in OPERATIONS if row.command}
    assert groups <= set(COMMANDS)
