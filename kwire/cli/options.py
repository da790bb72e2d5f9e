"""Options of commands as values: each is declared once, alone or in a group.

A group is a frozen dataclass of options, arguments and further groups. A command takes it as one
parameter, and typer sees its fields in this place, in their order:

    @dataclass(frozen=True, slots=True, kw_only=True)
    class TimeRange:
        since: str | None = option("--from", metavar="TIME", help="From this time on.")
        until: str | None = option("--to", metavar="TIME", help="Up to before this time.")

    @reads_options
    def show(times: TimeRange, verbose: bool = flag("--verbose", help="Show all.")) -> None: ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, field, fields, is_dataclass
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Group = TypeVar("Group")

SettingKeys = str | tuple[str, ...]

_TYPER, _KEYS = "typer", "keys"
"""Keys of a field's metadata: of what typer knows of it, and of the keys of its settings."""


def option(*flags: str, default: Any = None, key: SettingKeys = (), **details: Any) -> Any:
    """Declare an option: a field of a group, or the default of a command's own parameter.

    flags: by default one made from the name. default: ... if it has to be given. key: the settings
    of a configuration file that it stands for. details: of typer.Option.
    """
    return _declared(default, typer.Option(*flags, **details), key)


def flag(*flags: str, key: SettingKeys = (), **details: Any) -> Any:
    """Declare an option that is off unless it is given; otherwise as `option`."""
    return option(*flags, default=False, key=key, **details)


def repeated(*flags: str, key: SettingKeys = (), **details: Any) -> Any:
    """Declare an option that may be given several times; otherwise as `option`."""
    return option(*flags, default=[], key=key, **details)


def argument(*, default: Any = ..., **details: Any) -> Any:
    """Declare an argument as `option` declares an option. details: of typer.Argument."""
    return _declared(default, typer.Argument(**details), ())


def with_key(declared: Any, key: SettingKeys) -> Any:
    """Return the declaration of an option that other commands have, too, with its settings."""
    default = declared.default_factory() if declared.default is MISSING else declared.default
    return _declared(default, declared.metadata[_TYPER], key)


def keys_of(group: type[Any]) -> tuple[tuple[str, str], ...]:
    """Return each option of a group that is a setting, with the key of the setting."""
    return tuple((item.name, key) for item in fields(group) for key in item.metadata.get(_KEYS, ()))


def _declared(default: Any, declaration: Any, key: SettingKeys) -> Any:
    keys = (key,) if isinstance(key, str) else key
    metadata = {_TYPER: declaration, _KEYS: keys}
    if default is ...:
        return field(metadata=metadata)
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def reads_options(command: Callable[..., None]) -> Callable[..., None]:
    """Let typer call a command whose parameters are declared by `option`, `argument` and groups."""
    own = CommandParameters(command)

    @functools.wraps(command)
    def wrapper(**values: Any) -> None:
        command(**own.collected(values))

    set_parameters(wrapper, own)
    return wrapper


class CommandParameters:
    """The parameters that a command declares, as typer is to see them.

    skipped: so many first ones are made elsewhere.
    """

    def __init__(self, command: Callable[..., Any], skipped: int = 0) -> None:
        hints = get_type_hints(command, include_extras=True)
        declared = [*inspect.signature(command).parameters.values()][skipped:]
        self._declared = [(item.name, hints[item.name], item.default) for item in declared]

    def __iter__(self) -> Iterator[inspect.Parameter]:
        for declaration in self._declared:
            yield from _parameters(*declaration)

    def collected(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the command: values that typer read, and groups of them."""
        return {name: _value(name, hint, values) for name, hint, _ in self._declared}


def set_parameters(wrapper: Any, parameters: Iterable[inspect.Parameter]) -> None:
    """Make typer see these as the parameters of a command's wrapper."""
    signature = inspect.Signature([*parameters])
    wrapper.__signature__ = signature
    wrapper.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    del wrapper.__wrapped__


def group_parameters(group: type[Any]) -> Iterator[inspect.Parameter]:
    """Yield the parameters that typer sees in place of a group."""
    hints = _hints(group)  # type: ignore[arg-type]
    for item in fields(group):
        yield from _parameters(item.name, hints[item.name], item)


def group_of(group: type[Group], values: dict[str, Any]) -> Group:
    """Return a group of the values that typer read for its parameters."""
    hints = _hints(group)  # type: ignore[arg-type]
    names = [item.name for item in fields(group)]  # type: ignore[arg-type]
    return group(**{name: _value(name, hints[name], values) for name in names})


@functools.cache
def _hints(group: type[Any]) -> dict[str, Any]:
    """Return the types of a group's fields; most commands have the same groups."""
    return get_type_hints(group)


def _value(name: str, hint: Any, values: dict[str, Any]) -> Any:
    return group_of(hint, values) if _is_group(hint) else values[name]


def _parameters(name: str, hint: Any, declared: Any) -> Iterator[inspect.Parameter]:
    """Yield what typer sees of a parameter: itself, or the fields of its group."""
    if _is_group(hint):
        yield from group_parameters(hint)
        return
    default = declared
    if isinstance(declared, Field):
        hint = Annotated[hint, declared.metadata[_TYPER]]
        default = _default(declared)
    kind = inspect.Parameter.KEYWORD_ONLY
    yield inspect.Parameter(name, kind, annotation=hint, default=default)


def _default(declared: Field[Any]) -> Any:
    if declared.default_factory is not MISSING:
        return declared.default_factory()
    is_required = declared.default is MISSING
    return inspect.Parameter.empty if is_required else declared.default


def _is_group(hint: Any) -> bool:
    return isinstance(hint, type) and is_dataclass(hint)
