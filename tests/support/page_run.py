"""Runs the code of a Markdown page in the order in which a reader would, and compares outputs.

A line of output is compared by its form: figures, ids and addresses may be others, a line `…` or a
line that ends so stands for any text.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import signal
import subprocess
import sys
import time
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from tests.support.code_of_pages import shell_lines
from tests.support.markdown import CodeBlock, all_blocks

SECONDS = 120
"""Until a command of a page counts as hanging."""

_FORMS = (
    (r"(?:127\.0\.0\.1|localhost|[\w.-]+):\d{2,5}", r"\\S+"),
    (r"[\w-]{22}(?![\w-])", r"[\\w-]{22}"),
    (r"(?<!\S)/[\w./-]+", r"\\S+"),
    (r"\d[\d.,:]*(?: [KMGT]?i?B)?", r"\\d[\\d.,:]*(?: [KMGT]?i?B)?"),
    (r"\s+", r"\\s+"),
    (r"(?:…|\.\.\.)$", r".*"),
)
"""Patterns of what may differ in a line of output, and what stands for each, in this order."""


def form_of(line: str) -> re.Pattern[str]:
    """Return the pattern of the lines that differ only in figures, ids, addresses and spaces."""
    pieces: list[tuple[str, bool]] = [(line.rstrip(), False)]
    for looks, form in _FORMS:
        pieces = [
            piece
            for text, is_form in pieces
            for piece in ([(text, True)] if is_form else _split(text, looks, form))
        ]
    return re.compile("".join(text if is_form else re.escape(text) for text, is_form in pieces))


def _split(text: str, looks: str, form: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for match in re.finditer(looks, text):
        yield text[start : match.start()], False
        yield form.replace("\\\\", "\\"), True
        start = match.end()
    yield text[start:], False


def missing_lines(expected: str, printed: str) -> list[str]:
    """Return the expected lines that were not printed, in this order, in their form."""
    rest = iter(line.rstrip() for line in printed.splitlines())
    wanted = [line for line in expected.splitlines() if line.strip() not in ("", "…", "...")]
    return [line for line in wanted if not any(form_of(line).fullmatch(other) for other in rest)]


@dataclass(frozen=True, slots=True)
class Typed:
    """A command that a reader types, and what the page shows of its output."""

    command: str
    shown: str


def typed(block: CodeBlock) -> list[Typed]:
    """Return the commands of a block of shell lines."""
    if "$ " not in block.text:
        return [Typed(line, "") for line in shell_lines(block)]
    text = re.sub(r"\\\n\s*", "", block.text)
    parts = re.split(r"^\$ ", text, flags=re.M)[1:]
    return [Typed(*part.partition("\n")[::2]) for part in parts]


@dataclass(kw_only=True)
class PageRun:
    """Runs blocks in a folder. replaced: patterns in commands, by what stands for them here.

    acts: patterns of whole commands that are not kwire's, and what is done in their place.
    endless: a pattern of commands that run until Ctrl-C. One that listens is stopped before the
    first command that does not name its address; what it printed until then is compared.
    """

    folder: Path
    replaced: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    acts: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    endless: str = r"kwire (proxy --listen|watch|exporter|demo)"
    names: dict[str, Any] = field(default_factory=dict)
    _running: tuple[Typed, str, str, subprocess.Popen[str]] | None = None

    def problems(self, page: str, before: str = "") -> list[str]:
        """Run all blocks of a page; return what went otherwise than the page says.

        before: shell lines that prepare what the page begins with.
        """
        found: list[str] = []
        for line in before.splitlines():
            subprocess.run(
                ["bash", "-c", self._here(line)],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
            )
        blocks = all_blocks(page)
        try:
            for block, behind in zip(blocks, [*blocks[1:], None], strict=True):
                if block.language == "python":
                    shown = behind.text if behind and behind.language == "text" else None
                    found += self._python(block, shown)
                elif block.language in ("", "console", "sh"):
                    found += [problem for each in typed(block) for problem in self._shell(each)]
        finally:
            found += self._stop()
        return found

    def _python(self, block: CodeBlock, shown: str | None) -> list[str]:
        if "def test_" in block.text:
            (self.folder / "test_quorum.py").write_text(block.text)
            return []
        text = self._here(block.text)
        code = compile(text, f"line {block.line}", "exec", PyCF_ALLOW_TOP_LEVEL_AWAIT)
        output = StringIO()
        with redirect_stdout(output):
            value = eval(code, self.names)
            if inspect.iscoroutine(value):
                asyncio.run(value)
        if shown is None or output.getvalue() == shown:
            return []
        return [f"line {block.line} prints\n{output.getvalue()}"]

    def _here(self, text: str) -> str:
        for pattern, here in self.replaced.items():
            text = re.sub(pattern, here, text)
        return text

    def _shell(self, each: Typed) -> list[str]:
        if any(re.search(pattern, each.command) for pattern in self.left_out):
            return []
        for pattern, act in self.acts.items():
            if match := re.fullmatch(pattern, each.command):
                act(*match.groups())
                return []
        command = self._here(each.command)
        problems = [] if self._running and self._running[1] in command else self._stop()
        if re.match(self.endless, command):
            return problems + self._start(each, command)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        missing = missing_lines(each.shown, done.stdout + done.stderr)
        if missing or done.returncode not in (0, 1) or (done.returncode and not each.shown):
            problems += [
                f"{command}\n  exit code {done.returncode}, not printed: {missing}\n"
                f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
            ]
        return problems

    def _start(self, each: Typed, command: str) -> list[str]:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        address = re.search(r"[\d.]+:\d+", command)
        assert process.stdout
        first = process.stdout.readline()  # it is ready when it says where it listens
        self._running = each, address[0] if address else "", first, process
        return [] if first else [f"{command}\n  ends at once with {process.wait()}"]

    def _stop(self) -> list[str]:
        if self._running is None:
            return []
        each, _, first, process = self._running
        self._running = None
        process.send_signal(signal.SIGINT)
        printed = first + process.communicate(timeout=SECONDS)[0]
        missing = missing_lines(each.shown, printed)
        return [f"{each.command}\n  not printed: {missing}\n{printed[-3000:]}"] if missing else []

    def _environment(self) -> dict[str, str]:
        here = {
            **os.environ,
            **self.environment,
            "HOME": str(self.folder),
            "COLUMNS": "200",
            "KWIRE_CACHE": "",
        }
        here["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return here


def wait_for(file: Path, pattern: str, seconds: float = 90) -> re.Match[str]:
    """Return the first match in a file that a process writes. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not (match := re.search(pattern, file.read_text(), re.M)):
        if time.monotonic() > end:
            raise TimeoutError(f"{pattern} is not in it:\n{file.read_text()[-2000:]}")
        time.sleep(0.1)
    return match


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Path]:
    """Run `kwire` with these arguments until the end; yield the file that its output goes to."""
    output = folder / "output.txt"
    environment = {**os.environ, "TMPDIR": str(folder)}
    with output.open("w") as file:
        command = [str(Path(sys.executable).with_name("kwire")), *arguments]
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
    try:
        yield output
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=SECONDS)
