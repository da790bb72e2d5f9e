"""The package's files: in the checkout, and as the wheel and the sdist have them."""

import os
import subprocess
import sys
from pathlib import Path

from declarations import __main__ as declarations
from tests.support.paths import ROOT

PACKAGE = ROOT / "kwire"


def sources() -> list[Path]:
    """Return every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


GENERATED_CLIENTS = frozenset(PACKAGE / "admin" / name for name in ("client.py", "sync.py"))


def is_generated(path: Path) -> bool:
    """True for a module that a script in fixtures/ writes."""
    if path.parent == PACKAGE / "configs":
        return path.name.endswith("_keys.py")
    return path in GENERATED_CLIENTS or declarations.is_generated(path)


def build(folder: Path, target: str, source: Path = ROOT, **variables: str) -> Path:
    """Build the wheel or the sdist of a folder; return its path. variables: of the environment."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory"]
    environment = {**os.environ, **variables}
    subprocess.run([*command, folder], cwd=source, env=environment, check=True, capture_output=True)
    (made,) = (path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))
    return made
