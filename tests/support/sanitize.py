"""Attacks builds of the native engines in which every wrong access and undefined step is fatal.

    python -m tests.support.sanitize [--seed N] [--effort N]

Builds the extensions with AddressSanitizer and UndefinedBehaviorSanitizer beside the usual ones,
and runs the attacks on each of them in a process of its own. Needs gcc or clang with its
sanitizers. Effort 1 takes about a minute; each step more adds as many mutants, objects and rounds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib import import_module
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
"""Python itself leaves memory behind at exit; tests of the engines count blocks instead."""

ATTACKS = {
    "kwire.codec.native._program": "tests.support.codec.native.attack",
    "kwire.batches.native._records": "tests.support.batches.native.attack",
    "kwire.capture.native._capture": "tests.support.capture.native.attack",
    "kwire.proxy.data_path.native._relay": "tests.support.proxy.data_path.native.attack",
}
"""The module with the attacks on each extension, in a function `attacks(seed, effort)`."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=482, help="draws mutants and objects")
    parser.add_argument("--effort", type=int, default=1, help="how much of each attack")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--built", type=Path, nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        for native, extension in zip(hatch_build.here(), options.built, strict=True):
            _load(native.module, extension)
        _attack(options.only, options.seed, options.effort)
        return 0
    with tempfile.TemporaryDirectory(prefix="kwire-sanitize-") as scratch:
        natives = hatch_build.here()
        built = [hatch_build.build(ROOT, Path(scratch), native, FLAGS) for native in natives]
        arguments = ["--seed", str(options.seed), "--effort", str(options.effort), "--built"]
        arguments += map(str, built)
        codes = [_in_own_process("--only", native.module, *arguments) for native in natives]
        return max(map(abs, codes))


def _in_own_process(*arguments: str) -> int:
    environment = {**os.environ, **MALLOC, **OPTIONS, "LD_PRELOAD": _runtime()}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "fixtures")])
    command = [sys.executable, "-m", __spec__.name, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _runtime() -> str:
    """Python is not built with the sanitizer, whose library must be loaded before all others."""
    compiler = os.environ.get("CC", "cc").split()
    found = subprocess.check_output([*compiler, "-print-file-name=libasan.so"], text=True).strip()
    if not Path(found).is_absolute():
        raise SystemExit(f"{compiler[0]} has no AddressSanitizer: install its libasan")
    return found


def _load(name: str, extension: Path) -> None:
    spec = spec_from_loader(name, ExtensionFileLoader(name, str(extension)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module


def _attack(name: str, seed: int, effort: int) -> None:
    for attack, run in import_module(ATTACKS[name]).attacks(seed, effort).items():
        start = time.monotonic()
        result = run()
        print(f"{attack}: {result} in {time.monotonic() - start:.0f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
