"""Saved views: filters by name, in the user's folder for configuration."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kwire.cli.profiles import profiles_path
from kwire.errors import InvalidValue
from kwire.permissions import make_private_folder, replace_private


def views_path() -> Path:
    """Return the path of the file, beside that of the profiles; it need not exist."""
    return profiles_path().with_name("watch-views.json")


def read_views() -> dict[str, str]:
    """Return the saved views by name. Raises InvalidValue, which names the file, and OSError."""
    path = views_path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return {}
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidValue(f"{path} has no saved views: {error}") from error


def save_view(name: str, view: str | None) -> None:
    """Save a filter in place of another of that name; None removes it. Raises like read_views."""
    views = read_views()
    if view is None:
        views.pop(name, None)
    else:
        views[name.strip()] = view
    path = views_path()
    if not path.parent.is_dir():
        make_private_folder(path.parent)
    replace_private(path, msgspec.json.format(msgspec.json.encode(views)) + b"\n")
