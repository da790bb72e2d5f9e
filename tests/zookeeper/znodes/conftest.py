"""The Java process that judges znodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from migrating.znode_judge import ZnodeJudge


@pytest.fixture(scope="session")
def judge() -> Iterator[ZnodeJudge]:
    """One Java process for all tests of this folder, which are one group of xdist's."""
    with ZnodeJudge() as judge:
        yield judge
