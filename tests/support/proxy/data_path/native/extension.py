"""The extension of the data path, without which the tests of it are skipped."""

import os

import pytest

try:
    from kwire.proxy.data_path.native import Frames as Frames
    from kwire.proxy.data_path.native import Loop as Loop
except ImportError:
    if os.environ.get("KWIRE_NATIVE") == "1":
        raise
    pytest.skip("no native engine here: it takes a C compiler", allow_module_level=True)
