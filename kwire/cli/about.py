"""`kwire --version --json`: what a bug report has to say about an installation.

Versions and names only: no paths, no names of hosts or users, no settings.
"""

from __future__ import annotations

import platform
from importlib import import_module

from kwire import __version__
from kwire.cli.screen import print_json
from kwire.codec.engine_choice import available, in_use
from kwire.extras import installed_extras, installed_packages

NATIVE = {
    "codec": "kwire.codec.native",
    "batches": "kwire.batches.native",
    "captures": "kwire.capture.native",
    "proxy": "kwire.proxy.data_path.native",
}
"""The package of each native engine: importing it fails where the engine was not built."""


def about() -> dict[str, object]:
    """Return the versions of kwire, of Python, and of what kwire stands on."""
    return {
        "kwire": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "engine": in_use(),
        "engines": available(),
        "native": {part: _can_import(package) for part, package in NATIVE.items()},
        "packages": installed_packages(),
        "extras": installed_extras(),
    }


def _can_import(package: str) -> bool:
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def print_about() -> None:
    """Print it as JSON."""
    print_json(about())
