"""Attacks a build of the native engine in which every wrong access and undefined step is fatal.

    python -m tests.support.codec.native.sanitize [--seed N] [--effort N]

Builds the extension with AddressSanitizer and UndefinedBehaviorSanitizer beside the usual one, and
runs all of attack.py against it in a process of its own. Needs gcc or clang with its sanitizers.
Effort 1 takes about a minute; each step more adds as many mutants, objects and rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import hatch_build
from tests.support.paths import ROOT

FLAGS = [
    "-O1",
    "-g",
    "-fno-omit-frame-pointer",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
]
MALLOC = {"PYTHONMALLOC": "malloc"}  # Python's own pools would hide what is freed too early
OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
"""Python itself leaves memory behind at exit; test_native.py counts blocks instead."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=482, help="draws mutants and objects")
    parser.add_argument("--effort", type=int, default=1, help="how much of each attack")
    parser.add_argument("--extension", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.extension is not None:
        _load(options.extension)
        _attack(options.seed, options.effort)
        return 0
    with tempfile.TemporaryDirectory(prefix="kwire-sanitize-") as scratch:
        extension = hatch_build.build(ROOT, Path(scratch), FLAGS)
        arguments = [sys.executable, "-m", __spec__.name, "--extension", str(extension)]
        arguments += ["--seed", str(options.seed), "--effort", str(options.effort)]
        environment = {**os.environ, **MALLOC, **OPTIONS, "LD_PRELOAD": _runtime()}
        environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "fixtures")])
        return subprocess.run(arguments, cwd=ROOT, env=environment, check=False).returncode


def _runtime() -> str:
    """Python is not built with the sanitizer, whose library must be loaded before all others."""
    compiler = os.environ.get("CC", "cc").split()
    found = subprocess.check_output([*compiler, "-print-file-name=libasan.so"], text=True).strip()
    if not Path(found).is_absolute():
        raise SystemExit(f"{compiler[0]} has no AddressSanitizer: install its libasan")
    return found


def _load(extension: Path) -> None:
    loader = ExtensionFileLoader(hatch_build.MODULE, str(extension))
    spec = spec_from_loader(hatch_build.MODULE, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[hatch_build.MODULE] = module


def _attack(seed: int, effort: int) -> None:
    from tests.support.codec.native import attack

    each = 5 * effort
    attacks: dict[str, Callable[[], object]] = {
        "vectors there and back": attack.round_trips,
        "mutants accepted, rejected": partial(attack.mutants, seed, step=15, each=each),
        "spoilt objects written, refused": partial(
            attack.hostile_objects, seed, step=15, each=each
        ),
        "collected while read and written": partial(attack.collected, step=20),
        "objects changed while written": partial(attack.meddled, 200 * effort),
        "objects changed by another thread": partial(attack.threads, 2.0 * effort),
        "elements taken away while written": partial(attack.emptied, 5 * effort),
    }
    for name, run in attacks.items():
        start = time.monotonic()
        result = run()
        print(f"{name}: {result} in {time.monotonic() - start:.0f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
