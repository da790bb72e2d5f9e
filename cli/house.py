"""Checks that kwire's packages are its own: their names are plain and others may use them too."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOMS = ("kwire", "admin", "proxy", "controller", "pipeline", "cli")
"""The import packages of the distribution, side by side in one folder."""


class PackageCollision(Exception):
    """Another distribution's package stands where one of kwire's should."""


def check_house(rooms: tuple[str, ...] = ROOMS) -> None:
    """PackageCollision unless every room is found beside this one; imports none of them."""
    house = Path(__file__).parent.parent
    for room in rooms:
        place = _place(room)
        if place is None:
            raise PackageCollision(f"kwire's package {room!r} is missing: install kwire again.")
        if place.parent != house:
            raise PackageCollision(_explain(room, place))


def collision(module: str) -> str | None:
    """Why an import from one of the rooms failed, where another distribution overwrote it."""
    room = module.partition(".")[0]
    place = _place(room) if room in ROOMS else None
    return _explain(room, place) if place and _others(room) else None


def _place(room: str) -> Path | None:
    """The folder, or the file, that `import room` would take."""
    spec = find_spec(room)
    if spec is None or spec.origin is None:
        return None
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin


def _explain(room: str, place: Path) -> str:
    owners = _others(room)
    whose = f"the distribution {' and '.join(owners)}" if owners else str(place)
    return (
        f"the package {room!r} is not kwire's but belongs to {whose}: "
        "install kwire into an environment of its own."
    )


def _others(room: str) -> list[str]:
    from importlib.metadata import packages_distributions

    return sorted({name for name in packages_distributions().get(room, []) if name != "kwire"})
