"""The loops that move bytes: tests that ask for `each_loop` are run with each of them."""

import pytest

from kwire.proxy import Limits
from kwire.proxy.data_path import native_loop, server


@pytest.fixture(params=["asyncio", "C"])
def each_loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have asyncio move all bytes; or the loop in C, which gets connections at once."""
    name: str = request.param
    if name == "asyncio":
        monkeypatch.setattr(server, "IS_BUILT", False)
    elif not native_loop.IS_BUILT:
        pytest.skip("the native extension is not built")
    else:
        monkeypatch.setattr(Limits, "tick", 0.003)
    return name
