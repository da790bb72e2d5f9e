"""A distribution that brings a package of the same name is named before anything breaks."""

import importlib.metadata
import sys
from pathlib import Path

import pytest

from cli import house
from cli.house import PackageCollision, check_house, collision


def test_the_rooms_lie_side_by_side() -> None:
    check_house()


def test_a_foreign_package_in_front_is_named_by_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: {"elsewhere": ["proxy.py", "kwire"]}
    )
    with pytest.raises(PackageCollision, match=r"belongs to the distribution proxy\.py: install"):
        check_house(("elsewhere",))


def test_a_users_own_module_is_named_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_alone.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PackageCollision, match=r"mine_alone\.py"):
        check_house(("mine_alone",))


def test_a_missing_room_asks_for_another_installation() -> None:
    with pytest.raises(PackageCollision, match="install kwire again"):
        check_house(("no_such_room",))


def test_a_room_that_was_overwritten_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    assert collision("proxy.relay") is None
    monkeypatch.setattr(
        importlib.metadata, "packages_distributions", lambda: {"proxy": ["kwire", "proxy.py"]}
    )
    assert "proxy.py" in (collision("proxy.relay") or "")
    assert collision("sys") is None


def test_every_room_that_is_here_is_checked() -> None:
    here = {path.parent.name for path in Path(house.__file__).parents[1].glob("*/py.typed")}
    assert set(house.ROOMS) == here
    assert "sys" in sys.modules
