"""The results of a command as a table, JSON, YAML, TSV or names: one Table for all of them.

The shapes are documented in docs/reference/output.md and do not depend on the terminal. JSON is one
object a run, errors included: every row of an operation on several keys has `error`, Kafka's name
of it or null, and `message`. TSV has no header, every column, and `-` for what is not known.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from kwire.cli.errors import WrongUsage
from kwire.cli.options import flag, option
from kwire.cli.screen import columns, is_pipe, screen, table_of
from kwire.cli.wording import command_words
from kwire.text.json_numbers import json_numbers
from kwire.text.times import moment
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin.outcomes import Outcomes

K = TypeVar("K")
R = TypeVar("R")

NOT_KNOWN = "-"
READABLE = 8
"""Characters of a cell that stay on one line: a terminal too narrow for it gets no table."""


class OutputForm(StrEnum):
    """The forms that -o takes."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    TSV = "tsv"
    NAME = "name"


def cell_text(value: Any) -> str:
    """Return a JSON value as the text of a cell; a dash for null and for an empty list."""
    # Most cells of a long table, past the patterns below.
    if type(value) is int:
        return str(value)
    if type(value) is str:
        return harmless(value) if value else NOT_KNOWN
    match value:
        case None | [] | () | "":
            return NOT_KNOWN
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ",".join(map(cell_text, value))
        case dict():
            # The pattern {} matches every mapping, not the empty one.
            return ",".join(f"{k}={cell_text(v)}" for k, v in value.items()) or NOT_KNOWN
    return harmless(str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    key: of the value in a row and in JSON, in camelCase. title: by default the key in Kafka's
    spelling, LogEndOffset. wide: True to leave it out of `-o table`. right: True for numbers.
    whole: True for names to copy, which do not break unless they take more than half the screen.
    text: formats the value for a screen; JSON, YAML and TSV have the exact value. instead: returns
    the text of a cell that the value alone does not give, such as (hidden); empty for other rows.
    """

    key: str
    title: str = ""
    wide: bool = False
    right: bool = False
    whole: bool = False
    text: Callable[[Any], str] = cell_text
    instead: Callable[[Mapping[str, Any]], str] | None = None

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the text of a row's cell on a screen."""
        replacement = self.instead(row) if self.instead is not None else ""
        return replacement or self.text(row.get(self.key))

    @property
    def heading(self) -> str:
        """The title, made from the key if there is none."""
        return self.title or f"{self.key[0].upper()}{self.key[1:]}"


def text_columns(*keys: str, wide: bool = False) -> list[Column]:
    """Return columns of text with these keys."""
    return [Column(key=key, wide=wide) for key in keys]


def number_columns(*keys: str, wide: bool = False) -> list[Column]:
    """Return columns of numbers with these keys."""
    return [Column(key=key, wide=wide, right=True) for key in keys]


ERROR = Column(key="error")
MESSAGE = Column(key="message")


class Table:
    """Rows of a result, each a mapping of JSON values.

    name: of the rows in JSON, a plural. key: the column that `-o name` prints; by default the
    first. facts: further values of the JSON object, shown above the table.
    """

    def __init__(
        self,
        name: str,
        columns: Sequence[Column],
        rows: Iterable[Mapping[str, Any]],
        *,
        key: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.rows = [dict(row) for row in rows]
        self.key = key or self.columns[0].key
        self.facts = dict(facts or {})

    @classmethod
    def of_outcomes(
        cls,
        name: str,
        columns: Sequence[Column],
        outcomes: Outcomes[K, R],
        row: Callable[[K, R], Mapping[str, Any] | Iterable[Mapping[str, Any]]],
        *,
        key_values: Callable[[K], Mapping[str, Any]] | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Table:
        """Return the table of an operation on several keys: a row or more each, failed ones too.

        row: values of a key that worked. key_values: values that name a key which failed, by
        default its text in the first column.
        """
        from kwire.errors import KwireError

        named = key_values or (lambda key: {columns[0].key: str(key)})
        rows: list[Mapping[str, Any]] = []
        for key, value in outcomes.entries().items():
            if isinstance(value, KwireError):
                rows.append({**named(key), "error": error_name(value), "message": _message(value)})
                continue
            made = row(key, value)
            several = [made] if isinstance(made, Mapping) else made
            rows += [{"error": None, "message": None, **values} for values in several]
        return cls(name, [*columns, ERROR, MESSAGE], rows, facts=facts)

    @property
    def failed(self) -> bool:
        """True if a row has an error."""
        return any(row.get("error") for row in self.rows)

    @property
    def document(self) -> dict[str, Any]:
        """The JSON object."""
        keys = [column.key for column in self.columns]
        return {**self.facts, self.name: [{k: row.get(k) for k in keys} for row in self.rows]}

    def shown_columns(self, *, wide: bool) -> list[Column]:
        """Return the columns for a screen: those of errors only where there is one."""
        hidden = set() if self.failed else {ERROR.key, MESSAGE.key}
        return [
            column
            for column in self.columns
            if column.key not in hidden and (wide or not column.wide)
        ]

    def cells(self, shown: Sequence[Column]) -> list[list[str]]:
        """Return the text of each row for these columns."""
        return [[column.cell(row) for column in shown] for row in self.rows]


class Output:
    """Prints what a command has to say in the form that its options chose.

    failed: True if any item failed; the command then ends with exit code 1.
    """

    def __init__(self, form: OutputForm = OutputForm.TABLE) -> None:
        self.form = form
        self.failed = False

    @property
    def is_document(self) -> bool:
        """True for JSON and YAML, of which there is one object a run."""
        return self.form in (OutputForm.JSON, OutputForm.YAML)

    @property
    def is_for_people(self) -> bool:
        """True for the forms that no script reads."""
        return self.form in (OutputForm.TABLE, OutputForm.WIDE)

    def show(self, table: Table, *, empty: str = "") -> None:
        """Print a table. empty: the sentence in place of one without rows, on a screen."""
        self.failed = self.failed or table.failed
        if self.is_document:
            self.print_document(table.document)
        elif self.form is OutputForm.TSV:
            _write(_tsv(table))
        elif self.form is OutputForm.NAME:
            done = (row for row in table.rows if not row.get("error"))
            names = dict.fromkeys(str(row[table.key]) for row in done)
            _write("".join(f"{harmless(name)}\n" for name in names))
        else:
            self._show_screen(table, empty)

    def show_document(self, document: Mapping[str, Any], draw: Callable[[], object]) -> None:
        """Print one object: by `draw` on a screen, as `name<TAB>value` lines in TSV.

        Raises WrongUsage for `-o name`.
        """
        if self.is_document:
            self.print_document(document)
        elif self.form is OutputForm.TSV:
            _write("".join(f"{key}\t{_exact(value)}\n" for key, value in document.items()))
        elif self.form is OutputForm.NAME:
            raise WrongUsage("-o name is for lists; this prints one object: take -o json.")
        else:
            draw()

    def print_document(self, document: Mapping[str, Any]) -> None:
        """Print an object as JSON or YAML."""
        if self.form is OutputForm.YAML:
            import yaml

            _write(yaml.safe_dump(_plain(document), sort_keys=False, allow_unicode=False))
        else:
            _write(_indented(_json(document)) + "\n")

    def say(self, sentence: str) -> None:
        """Print a sentence for people; other forms have it in their rows."""
        if self.is_for_people:
            screen().print(sentence)

    def warn(self, sentence: str) -> None:
        """Print a warning on stderr, in every form."""
        screen(stderr=True).print(f"Warning: {harmless(sentence)}.", style="yellow")

    def _show_screen(self, table: Table, empty: str) -> None:
        for key, value in table.facts.items():
            _write(f"{Column(key=key).heading + ':':24}{cell_text(value)}\n")
        if table.facts:
            _write("\n")
        if not table.rows:
            _write(f"{empty}\n" if empty else "")
            return
        shown = table.shown_columns(wide=self.form is OutputForm.WIDE)
        cells = table.cells(shown)
        # Scripts call commands in loops: in a pipe they do without rich.
        if is_pipe():
            _write(columns([[column.heading for column in shown], *cells]))
            return
        console = screen()
        if _is_too_wide(cells, shown, console.width):
            _write(_records(cells, shown))
            return
        right = [column.heading for column in shown if column.right]
        whole = [
            column.heading
            for column, texts in zip(shown, zip(*cells, strict=True), strict=True)
            if column.whole and 2 * max(map(len, texts)) <= console.width
        ]
        drawn = table_of(*(column.heading for column in shown), right=right, whole=whole)
        for line, row in zip(cells, table.rows, strict=True):
            drawn.add_row(*line, style="red" if row.get("error") else "")
        console.print(drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """The options of the form that is printed."""

    output_form: OutputForm = option(
        "--output", "-o", default=OutputForm.TABLE, help="The form of what is printed."
    )
    as_json: bool = flag("--json", help="Print JSON, as -o json does.")

    def output(self, *, both: bool = False) -> Output:
        """Return the output in the form of -o, or JSON for --json.

        Raises WrongUsage for another form beside --json, unless both may be given.
        """
        if not self.as_json:
            return Output(self.output_form)
        if not both and self.output_form not in (OutputForm.TABLE, OutputForm.JSON):
            raise WrongUsage(f"give --json or -o {self.output_form}, not both.")
        return Output(OutputForm.JSON)


def _is_too_wide(cells: list[list[str]], shown: Sequence[Column], width: int) -> bool:
    """True if a table would cut names into pieces of a few letters."""
    widths = [
        max(map(len, (column.heading, *texts)))
        for column, texts in zip(shown, zip(*cells, strict=True), strict=True)
    ]
    return sum(min(each, READABLE) + 2 for each in widths) - 2 > width


def _records(cells: list[list[str]], shown: Sequence[Column]) -> str:
    """Return a block of lines for each row, a line a value, as psql does in \\x auto."""
    width = max(len(column.heading) for column in shown) + 2
    blocks = (
        "".join(
            f"{column.heading:{width}}{text}\n" for column, text in zip(shown, row, strict=True)
        )
        for row in cells
    )
    return "\n".join(blocks)


def error_name(error: Exception) -> str:
    """Return Kafka's name of an error, else that of its class: OUTCOME_UNKNOWN."""
    name = getattr(error, "name", None)
    return name if isinstance(name, str) else _upper(type(error).__name__)


def error_document(error: Exception) -> dict[str, Any]:
    """Return the JSON object of a run that failed as a whole."""
    return {"error": error_name(error), "message": _message(error)}


def hidden_text(row: Mapping[str, Any]) -> str:
    """Return `(hidden)` for a row of a sensitive key, whose value no node tells."""
    return "(hidden)" if row.get("isSensitive") else ""


def dry_run_facts(dry_run: bool) -> dict[str, Any]:
    """Return the fact of a table that says that nothing was changed; none without a dry run."""
    return {"dryRun": True} if dry_run else {}


def time_values(name: str, milliseconds: int | None) -> dict[str, Any]:
    """Return a time as `nameMs`, ms since 1970, and as text in UTC; both null if not known."""
    if milliseconds is None or milliseconds < 0:
        return {f"{name}Ms": None, name: None}
    at = moment(milliseconds / 1000)  # a peer's number, which may be beyond the year 9999
    return {f"{name}Ms": milliseconds, name: at and at.isoformat(timespec="milliseconds")}


def _message(error: Exception) -> str:
    # Without the name of a node's error, which has a column of its own.
    explanation = getattr(error, "explanation", None)
    return command_words(explanation if isinstance(explanation, str) else str(error))


def _json(document: Mapping[str, Any]) -> str:
    try:
        return json.dumps(document, allow_nan=False)
    except ValueError:  # JSON has no word for infinity, which a quota may be
        return json.dumps(json_numbers(document))


def _indented(text: str) -> str:
    """Return JSON indented; json itself does that in Python, four times as slowly."""
    import msgspec

    try:
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # half of a surrogate pair, as in a name that is not UTF-8
        return json.dumps(json.loads(text), indent=2)


def _upper(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _tsv(table: Table) -> str:
    rows = ([_exact(row.get(column.key)) for column in table.columns] for row in table.rows)
    return "".join("\t".join(row) + "\n" for row in rows)


def _exact(value: Any) -> str:
    """Return the text of a value for awk: no tab and no line break in it."""
    text = str(value).lower() if isinstance(value, bool) else cell_text(value)
    return re.sub(r"[\t\r\n]", " ", text)


def _plain(value: Any) -> Any:
    """Return a value of plain dicts and lists, which is all that YAML's safe form takes."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
