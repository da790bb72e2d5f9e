"""Builds the native extensions into the wheel, or beside their sources for an editable install.

Without a C compiler the wheel is one of pure Python, which does the same more slowly. KWIRE_NATIVE
decides for itself: 0 leaves the extensions out, 1 makes it an error when one cannot be built.
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
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeModule(NamedTuple):
    """An extension of C files: all in the folder of its package, and those it shares with others.

    module: the name to import it by. shared: paths of files of other folders.
    platforms: the values of sys.platform where there is such an extension, by default all.
    """

    module: str
    shared: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The folder of the package, where an editable install has the extension, too."""
        return self.module.rpartition(".")[0].replace(".", "/")

    def is_for(self, platform: str) -> bool:
        """Return whether there is such an extension on this platform."""
        return not self.platforms or platform in self.platforms

    def sources(self, root: Path) -> list[Path]:
        """Return the C files, in a fixed order."""
        own = Path(root, self.folder).glob("*.[ch]")
        return sorted([*own, *(Path(root, path) for path in self.shared)])

    def digest(self, root: Path) -> str:
        """Name one state of the sources; the extension carries it as `SOURCES`."""
        files = self.sources(root)
        content = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in files)
        return hashlib.sha256(content).hexdigest()[:16]


BIG_ENDIAN = "kwire/codec/native/big_endian.h"
SHARED = (
    BIG_ENDIAN,
    *(f"kwire/codec/native/{name}" for name in ("shared.h", "buffer.c", "slots.c", "turns.c")),
)

NATIVE_MODULES = (
    NativeModule("kwire.codec.native._program"),
    NativeModule("kwire.batches.native._records", shared=SHARED),
    NativeModule("kwire.capture.native._capture", shared=SHARED),
    NativeModule(
        "kwire.proxy.data_path.native._relay",
        shared=(BIG_ENDIAN,),
        platforms=("linux", "darwin"),
    ),
)
"""All extensions of kwire. Each is independent: one that cannot be built leaves the others."""

FLAGS = ["-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"]
if sys.platform == "linux":
    FLAGS += ["-fno-plt"]  # calls into Python are a twentieth of the time of a decode


class NotBuilt(Exception):
    """The reason why there is no extension."""


class NativeBuildHook(BuildHookInterface[Any]):
    """Adds the extensions and their wheel tag, or leaves the wheel as it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what this platform has; put it into the wheel, or beside the sources."""
        if self.target_name != "wheel" or os.environ.get("KWIRE_NATIVE") == "0":
            return
        scratch = tempfile.mkdtemp(prefix="kwire-native-")
        # Not in finalize: it is not called for a build that fails.
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        for native in here():
            built = self._built(native, Path(scratch))
            if built is None:
                continue
            inside = f"{native.folder}/{built.name}"
            if version == "editable":
                put(built, Path(self.root, inside))
                continue
            build_data["force_include"][str(built)] = inside
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{platform_tag()}"

    def _built(self, native: NativeModule, scratch: Path) -> Path | None:
        try:
            return build(Path(self.root), scratch, native)
        except NotBuilt as reason:
            if os.environ.get("KWIRE_NATIVE") == "1":
                raise
            self.app.display_warning(f"kwire without its native engine {native.module}: {reason}")
            return None


def here(platform: str = sys.platform) -> list[NativeModule]:
    """Return the extensions of this platform."""
    return [native for native in NATIVE_MODULES if native.is_for(platform)]


def build(root: Path, scratch: Path, native: NativeModule, flags: list[str] = FLAGS) -> Path:
    """Compile the sources under `root` inside `scratch` and return the extension."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise NotBuilt("it is made for CPython with its lock")
    try:
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
        from setuptools.errors import BaseError, CCompilerError
    except ImportError as error:
        raise NotBuilt("setuptools is missing") from error
    extension = Extension(
        native.module,
        [str(path) for path in native.sources(root) if path.suffix == ".c"],
        define_macros=[("KWIRE_SOURCES", f'"{native.digest(root)}"')],
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
    return Path(scratch, command.get_ext_filename(native.module))  # type: ignore[no-untyped-call]


def put(built: Path, place: Path) -> None:
    """Move the extension by one rename: a process that has the old one loaded keeps it whole."""
    fresh = place.with_suffix(".new")
    shutil.copyfile(built, fresh)
    fresh.replace(place)


def platform_tag() -> str:
    """Return `linux_x86_64`, `macosx_11_0_arm64`, `win_amd64`."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
