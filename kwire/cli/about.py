"""`kwire --version --json`: what a bug report has to say about an installation.

Versions and names only: no paths, no names of hosts or users, no settings.
"""

from __future__ import annotations

import platform

from kwire import __version__
from kwire.cli.screen import print_json
from kwire.codec.engine_choice import available, in_use
from kwire.extras import installed_extras, installed_packages


def about() -> dict[str, object]:
    """Return the versions of kwire, of Python, and of what kwire stands on."""
    return {
        "kwire": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "engine": in_use(),
        "engines": available(),
        "packages": installed_packages(),
        "extras": installed_extras(),
    }


def print_about() -> None:
    """Print it as JSON."""
    print_json(about())
