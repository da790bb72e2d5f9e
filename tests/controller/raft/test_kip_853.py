"""The index of KIP-853 in the docstring of kwire.controller.raft."""

import re
from pathlib import Path

import pytest

from kwire.controller import raft

SECTIONS: list[tuple[str, str]] = re.findall(r'^"(.+)" +(\S+)$', raft.__doc__ or "", re.MULTILINE)


def test_the_file_of_a_section_names_it(subtests: pytest.Subtests) -> None:
    for section, file in SECTIONS:
        with subtests.test(section):
            text = (Path(raft.__file__).parent / file).read_text(encoding="utf-8")
            assert f'"{section}"' in " ".join(text.split('"""')[1].split())


def test_every_rpc_of_the_kip_is_in_the_index() -> None:
    rpcs = {file for _, file in SECTIONS if file.startswith("rpc/")}
    assert len(SECTIONS) == 33
    assert len(rpcs) == 9
