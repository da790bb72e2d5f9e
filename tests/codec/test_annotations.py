"""Classes of messages are made the same way on Pythons that leave annotations and on later ones."""

import sys
from types import ModuleType
from typing import Any

import pytest

from kwire.codec.annotations import take_annotations
from kwire.codec.declaration import Data, MessageClass
from kwire.codec.notation import int32, string


@pytest.fixture
def annotationlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.14's module, as far as a namespace needs it."""
    module: Any = ModuleType("annotationlib")
    module.Format = type("Format", (), {"FORWARDREF": 3})
    module.get_annotate_from_class_namespace = lambda space: space.get("__annotate_func__")
    module.call_annotate_function = lambda annotate, form: annotate(form)
    monkeypatch.setitem(sys.modules, "annotationlib", module)


def annotate(form: int) -> dict[str, Any]:
    """The function that Python 3.14's compiler puts into the namespace of a class body."""
    assert form == 3
    return {"number": int, "name": str}


def test_annotations_that_are_there_are_taken_as_they_are() -> None:
    there = {"number": int}
    assert take_annotations({"__annotations__": there}) is there


def test_a_class_body_without_annotations_has_none() -> None:
    namespace: dict[str, Any] = {}
    assert take_annotations(namespace) == {}
    assert namespace == {"__annotations__": {}}


@pytest.mark.usefixtures("annotationlib")
def test_a_message_declared_on_python_3_14_has_its_fields() -> None:
    body = {
        "__module__": __name__,
        "__qualname__": "Own",
        "__annotate_func__": annotate,
        "number": int32,
        "name": string,
        "helper": 5,
    }
    cls: Any = MessageClass("Own", (Data,), body, versions="0")
    assert list(cls.fields) == ["number", "name"]
    assert cls(number=1, name="a").encode(0) == b"\0\0\0\1\0\1a"
    assert cls().unknown_tags is None
    assert list(cls.__annotations__) == ["number", "name", "unknown_tags"]
