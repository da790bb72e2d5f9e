"""The cache of engines on disk: the same functions, or none if the file is damaged."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kwire
from kwire.codec import engine_cache
from kwire.codec.compiler import Compiled
from kwire.codec.declaration import Data
from kwire.codec.notation import int32
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from tests.support.file_permissions import mode_of, umask

try:
    from kwire.codec import native
    from kwire.codec.native.parts import from_basic, to_basic
    from kwire.codec.native.tables import describe
except ImportError:
    native = None  # type: ignore[assignment]

Spoil = Callable[[bytes], bytes]
VERSION = 2
REFERENCE = DescribeQuorumResponse.reference(VERSION)
needs_native = pytest.mark.skipif(native is None, reason="the native engine takes a C compiler")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder in use while the test lasts."""
    engine_cache.use_folder(tmp_path / "engines")
    yield tmp_path / "engines"
    engine_cache.use_folder(None)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


@needs_native
def test_parts_of_every_message_are_the_same_after_the_disk(
    folder: Path, subtests: pytest.Subtests
) -> None:
    for cls in kwire.all_messages():
        for version in cls.versions:
            with subtests.test(f"{cls.__name__} v{version}"):
                reference = cls.reference(version)
                parts = describe(reference.struct)
                basic = to_basic(parts)
                assert basic is not None
                engine_cache.store(reference, "native", basic)
                assert from_basic(engine_cache.load(reference, "native")) == parts


def test_compiled_functions_of_every_message_do_the_same_after_the_disk(
    folder: Path, subtests: pytest.Subtests
) -> None:
    for cls in kwire.all_messages():
        if not len(cls.versions):
            continue
        with subtests.test(cls.__name__):
            reference = cls.reference(cls.versions.last)
            made = Compiled(reference)
            assert engine_cache.load(reference, "compiled") is not None
            kept = Compiled(reference)
            data = made.encode(cls())
            assert kept.encode(cls()) == data
            assert kept.decode(data) == made.decode(data)


SPOILS: dict[str, Spoil] = {
    "cut off": lambda whole: whole[:-1],
    "empty": lambda whole: b"",
    "of other sources": lambda whole: bytes([whole[0] ^ 1]) + whole[1:],
    "damaged": lambda whole: whole[:20] + bytes([whole[20] ^ 1]) + whole[21:],
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_file_that_is_no_good_is_made_anew(spoil: Spoil, folder: Path) -> None:
    made = Compiled(REFERENCE)
    file = only_file(folder)
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))
    assert engine_cache.load(REFERENCE, "compiled") is None
    assert Compiled(REFERENCE).encode(DescribeQuorumResponse()) == made.encode(
        DescribeQuorumResponse()
    )
    assert file.read_bytes() == whole


def test_changed_sources_make_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Compiled(REFERENCE)
    monkeypatch.setattr(engine_cache, "_machinery", lambda: b"another compiler")
    assert engine_cache.load(REFERENCE, "compiled") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")
def test_a_file_of_another_user_is_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Compiled(REFERENCE)
    monkeypatch.setattr(os, "geteuid", lambda: only_file(folder).stat().st_uid + 1)
    assert engine_cache.load(REFERENCE, "compiled") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no permissions here")
def test_a_file_that_others_may_write_is_not_run(folder: Path) -> None:
    Compiled(REFERENCE)
    only_file(folder).chmod(0o622)
    assert engine_cache.load(REFERENCE, "compiled") is None
    Compiled(REFERENCE)
    assert engine_cache.load(REFERENCE, "compiled") is not None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no permissions here")
@pytest.mark.parametrize("above", [".", ".."])
def test_a_folder_that_others_may_write_is_not_used(folder: Path, above: str) -> None:
    """Another user could put code into it, or a link by which a file of ours is overwritten."""
    Compiled(REFERENCE)
    (folder / above).chmod(0o777)
    engine_cache.use_folder(folder)
    assert engine_cache.load(REFERENCE, "compiled") is None
    only_file(folder).unlink()
    assert Compiled(REFERENCE).encode(DescribeQuorumResponse())
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_files_and_folders_are_the_users_alone(tmp_path: Path, mask: int) -> None:
    engine_cache.use_folder(tmp_path / "caches" / "engines")
    try:
        with umask(mask):
            Compiled(REFERENCE)
    finally:
        engine_cache.use_folder(None)
    folder = tmp_path / "caches" / "engines"
    assert mode_of(folder.parent) == mode_of(folder) == 0o700
    assert mode_of(only_file(folder)) == 0o600


def test_a_link_in_the_place_of_a_file_is_not_followed(folder: Path) -> None:
    folder.mkdir()
    dear = folder.parent / "dear"
    dear.write_text("dear")
    name = f"{REFERENCE.message}-{REFERENCE.version}.compiled"
    (folder / f"{name}.{os.getpid()}").symlink_to(dear)
    Compiled(REFERENCE)
    assert dear.read_text() == "dear"


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    engine_cache.use_folder(tmp_path / "file" / "engines")
    try:
        assert Compiled(REFERENCE).encode(DescribeQuorumResponse())
    finally:
        engine_cache.use_folder(None)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_cannot_be_replaced_leaves_nothing_beside_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows a file that another process reads cannot be replaced."""

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refused)
    assert Compiled(REFERENCE).encode(DescribeQuorumResponse())
    assert list(folder.iterdir()) == []


def test_nothing_is_kept_until_a_program_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(engine_cache.VARIABLE, str(tmp_path))
    Compiled(REFERENCE)
    assert list(tmp_path.iterdir()) == []


def test_a_message_of_a_program_of_its_own_is_not_kept(folder: Path) -> None:
    class Own(Data, versions="0"):
        number: int = int32

    assert Compiled(Own.reference(0)).encode(Own(number=1)) == b"\0\0\0\1"
    assert not folder.exists()


def test_a_message_of_an_interactive_session_is_not_kept(tmp_path: Path) -> None:
    """Its module, `__main__`, has no file."""
    program = (
        "import sys; from pathlib import Path; from kwire.codec import engine_cache\n"
        "from kwire.codec.declaration import Data\n"
        "from kwire.codec.notation import int32\n"
        "engine_cache.use_folder(Path(sys.argv[1]))\n"
        "class Own(Data, versions='0'):\n"
        "    number: int = int32\n"
        "assert Own(number=1).encode(0) == b'\\0\\0\\0\\1'\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)
    assert list(tmp_path.iterdir()) == []


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """Each writes, reads and decodes by what it has read, all of them at once."""
    program = (
        "import sys; from pathlib import Path; from kwire.codec import engine_cache\n"
        "from kwire.messages.a55_describe_quorum import DescribeQuorumResponse as R\n"
        "from kwire.codec.compiler import Compiled\n"
        "engine_cache.use_folder(Path(sys.argv[1]))\n"
        "for _ in range(50):\n"
        "    for version in R.versions:\n"
        "        Compiled(R.reference(version)).encode(R())\n"
        "    for path in Path(sys.argv[1]).iterdir(): path.unlink(missing_ok=True)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        assert process.communicate()[1] == ""
    assert {path.suffix for path in tmp_path.iterdir()} <= {".compiled"}


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"KWIRE_CACHE": "/there"}, "/there"),
        ({"KWIRE_CACHE": ""}, None),
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/kwire/engines"),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "relative"}, "/home/me/.cache/kwire/engines"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_the_folder_is_where_the_user_has_caches(
    variables: dict[str, str], folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KWIRE_CACHE", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert engine_cache.user_folder() == (folder and Path(folder))


def test_declarations_are_imported_without_construct() -> None:
    program = "import sys, kwire; list(kwire.all_messages()); sys.exit('construct' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
