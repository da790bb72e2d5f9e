"""kwire's code on the executors of a cluster: sent with the job, native engine included.

Each package is an archive that Spark unpacks, under the package's name, into the folder of its
files, which is the first on a Python worker's path: no executor runs another version than the
driver. What kwire depends on has to be there (docs/pipeline.md).
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

from pyspark import SparkContext

PACKAGES = ("kwire", "proxy", "pipeline")
"""What tasks import."""


def ship(context: SparkContext) -> None:
    """Send the code of this environment to every executor.

    Executors that start later fetch it, too: the archives stay until this process ends.
    """
    folder = tempfile.mkdtemp(prefix="kwire-code-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for package in PACKAGES:
        context.addArchive(f"{archived(package, Path(folder))}#{package}")


def archived(package: str, folder: Path) -> Path:
    """A zip of the files of a package, without those that Python makes."""
    spec = find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.origin is not None, f"{package} is no folder"
    copy = folder / package
    shutil.copytree(Path(spec.origin).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return Path(shutil.make_archive(str(copy), "zip", copy))
