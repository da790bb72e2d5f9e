"""Builds the native engine into the wheel, or beside its sources for an editable install.

Without a C compiler the wheel is one of pure Python, which does the same more slowly. KWIRE_NATIVE
decides for itself: 0 leaves the extension out, 1 makes it an error when it cannot be built.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MODULE = "kwire.codec.native._program"
SOURCES = "kwire/codec/native"
FLAGS = ["-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"]
if sys.platform == "linux":
    FLAGS += ["-fno-plt"]  # calls into Python are a twentieth of the time of a decode


class NotBuilt(Exception):
    """Why there is no extension."""


class NativeBuildHook(BuildHookInterface[Any]):
    """Adds the extension and its wheel tag, or leaves the wheel as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wish = os.environ.get("KWIRE_NATIVE")
        if self.target_name != "wheel" or wish == "0":
            return
        scratch = tempfile.mkdtemp(prefix="kwire-native-")
        # Not in finalize: it is not called for a build that fails.
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        try:
            built = build(Path(self.root), Path(scratch))
        except NotBuilt as reason:
            if wish == "1":
                raise
            self.app.display_warning(f"kwire without its native engine: {reason}")
            return
        inside = f"{SOURCES}/{built.name}"
        if version == "editable":
            put(built, Path(self.root, inside))
            return
        build_data["force_include"][str(built)] = inside
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_tag()}"


def build(root: Path, scratch: Path, flags: list[str] = FLAGS) -> Path:
    """Compiles the sources under `root` inside `scratch` and returns the extension."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("it is made for CPython with its lock")
    try:
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
        from setuptools.errors import BaseError, CCompilerError
    except ImportError as error:
        raise NotBuilt("setuptools is missing") from error
    extension = Extension(
        MODULE,
        [str(path) for path in sources(root) if path.suffix == ".c"],
        define_macros=[("KWIRE_SOURCES", f'"{digest(root)}"')],
        extra_compile_args=[] if os.name == "nt" else flags,
        extra_link_args=[flag for flag in flags if flag.startswith("-fsanitize")],
        py_limited_api=True,
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(scratch)
    try:
        command.ensure_finalized()
        command.run()
    except (BaseError, CCompilerError) as error:
        raise NotBuilt(str(error)) from error
    return Path(scratch, command.get_ext_filename(MODULE))  # type: ignore[no-untyped-call]


def put(built: Path, place: Path) -> None:
    """Moves the extension by one rename: a process that has the old one loaded keeps it whole."""
    fresh = place.with_suffix(".new")
    shutil.copyfile(built, fresh)
    fresh.replace(place)


def sources(root: Path) -> list[Path]:
    """The C files, in a fixed order."""
    return sorted(Path(root, SOURCES).glob("*.[ch]"))


def digest(root: Path) -> str:
    """Names one state of the sources; the extension carries it as `SOURCES`."""
    content = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in sources(root))
    return hashlib.sha256(content).hexdigest()[:16]


def platform_tag() -> str:
    """`linux_x86_64`, `macosx_11_0_arm64`, `win_amd64`."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
