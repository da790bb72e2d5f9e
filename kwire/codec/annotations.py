"""The annotations of a class body, for metaclasses, on every Python.

Until 3.13, and wherever `from __future__ import annotations` stands, a class body leaves them in
its namespace. From 3.14 on it leaves a function that makes them (PEP 649, PEP 749).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def take_annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    """Return the annotations of a class body, and leave them in its namespace as a plain dict.

    Names that are not defined yet become forward references.
    """
    annotations: dict[str, Any] | None = namespace.get("__annotations__")
    if annotations is None:
        annotations = namespace["__annotations__"] = _evaluated(namespace)
    return annotations


def _evaluated(namespace: dict[str, Any]) -> dict[str, Any]:
    if not _FUNCTIONS & namespace.keys():
        return {}
    annotationlib = import_module("annotationlib")
    annotate = annotationlib.get_annotate_from_class_namespace(namespace)
    form = annotationlib.Format.FORWARDREF
    made: dict[str, Any] = annotationlib.call_annotate_function(annotate, form)
    for name in _FUNCTIONS:  # which would not know of annotations that are added
        namespace.pop(name, None)
    return made


_FUNCTIONS = {"__annotate__", "__annotate_func__"}
