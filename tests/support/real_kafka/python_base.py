"""A base image of Python made from this machine's files, in place of python:3.13-slim."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pip

from real_kafka.image import shared_libraries

DOCKERFILE = """\
FROM scratch
COPY rootfs/ /
ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
"""

OF_WHEELS = ("libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libgcc_s.so.1")
"""Libraries that wheels of manylinux expect on every machine."""

PROGRAMS = ("sh", "install", "stat")

LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "test", "idlelib", "tkinter", "turtledemo", "site-packages", "config-*"
)


def stage_python(folder: Path) -> None:
    """Lay out a context that builds the image: this Python with pip, a shell, the C library."""
    (folder / "Dockerfile").write_text(DOCKERFILE)
    root = folder / "rootfs"
    programs = [_copy(Path(shutil.which(name) or name), root / "usr/bin") for name in PROGRAMS]
    (root / "bin").symlink_to("usr/bin")
    python = _stage_python(root / "usr/local")
    libraries = shared_libraries([*programs, *python], inside=root)
    beside = next(library.parent for library in libraries if library.name == "libc.so.6")
    for library in libraries | {beside / name for name in OF_WHEELS}:
        _copy(library, root / str(library.parent)[1:], library.name)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")


def _stage_python(prefix: Path) -> list[Path]:
    """Copy the interpreter, its library and pip; return what loads shared libraries."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = prefix / "lib" / name
    shutil.copytree(Path(sys.base_prefix, "lib", name), library, ignore=LEFT_OUT)
    shutil.copytree(Path(pip.__file__).parent, library / "site-packages" / "pip", ignore=LEFT_OUT)
    program = _copy(Path(sys.base_prefix, "bin", name), prefix / "bin", name)
    for alias in ("python", "python3"):
        (prefix / "bin" / alias).symlink_to(name)
    return [program, *library.rglob("*.so")]


def _copy(file: Path, folder: Path, name: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(file.resolve(), folder / (name or file.name)))
