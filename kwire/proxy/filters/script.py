"""Filters from a Python file: every Filter that it defines, or those in its `filters`."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType

from kwire.errors import InvalidValue
from kwire.permissions import changeable_by_others
from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.filter import Filter


class BadScript(InvalidValue):
    """A script that cannot be run, or gives no filters."""


def load(path: Path) -> list[Filter]:
    """Run the file and return its filters; each is made with no arguments. Raises BadScript.

    The file's name is __file__ in it; it runs with all that this process may do. Therefore it is
    refused if another user could change it.
    """
    if reason := changeable_by_others(path):
        raise BadScript(f"the script is not run: {reason}")
    module = ModuleType(f"script_{path.stem}")
    module.__file__ = str(path)
    try:
        code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
        exec(code, module.__dict__)
        filters = _filters(module)
        Filters(filters)
    except OSError as error:
        raise BadScript(f"cannot read {path}: {error.strerror}") from error
    except KeyboardInterrupt:  # of the user
        raise
    except BaseException as error:  # a script may raise SystemExit: that must not end the proxy
        raise BadScript(f"{path}{_line(error, path)}: {_error_text(error)}") from error
    if not filters:
        raise BadScript(f"{path} defines no class that is a Filter, and no `filters`")
    return filters


def _filters(module: ModuleType) -> list[Filter]:
    filters = getattr(module, "filters", None)
    if filters is not None:
        return list(filters)
    return [
        cls()
        for cls in vars(module).values()
        if isinstance(cls, type) and issubclass(cls, Filter) and cls.__module__ == module.__name__
    ]


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    stack = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in stack if frame.filename == str(path)]
    return f", line {frames[-1].lineno}" if frames else ""


def _error_text(error: BaseException) -> str:
    if isinstance(error, InvalidValue):
        return str(error)
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
