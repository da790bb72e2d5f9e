"""The extension of the data path, without which the tests of it are skipped."""

from tests.support.native_extensions import needs_extension

with needs_extension():
    from kwire.proxy.data_path.native import Frames as Frames
    from kwire.proxy.data_path.native import Loop as Loop
