"""Methods that train for the ROC curve, and ROC analysis; independent of the window.

Modules are loaded on first use: the name of a method or the area under a curve does not wait for
the modules of all methods.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from aucstudio.engine.params import InvalidSetting, Param, declared_params, method_entries

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.engine.monitor import Callback, Step, Stopped
    from aucstudio.engine.restoring import restore
    from aucstudio.engine.scorers import Scorer

__all__ = [
    "DECLARED",
    "METHODS",
    "AUCClassifier",
    "Callback",
    "InvalidSetting",
    "Param",
    "Scorer",
    "Step",
    "Stopped",
    "declared_params",
    "describe_methods",
    "restore",
]

_MODULES = {
    "AUCClassifier": "base",
    "Callback": "monitor",
    "Scorer": "scorers",
    "Step": "monitor",
    "Stopped": "monitor",
    "restore": "restoring",
}


def __getattr__(name: str) -> Any:
    """Load a name on access; methods go by the names of their classes: ``AUCRLS``."""
    if name in _MODULES:
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    for key in METHODS if name[0].isupper() else ():
        if key.replace("-", "") == name.lower() and METHODS[key].__name__ == name:
            return METHODS[key]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _class_in(module: ModuleType, key: str) -> type[AUCClassifier]:
    for name, found in vars(module).items():
        if name.lower() == key.replace("-", ""):
            return cast("type[AUCClassifier]", found)
    raise AttributeError(f"{module.__name__} declares no method with the key {key!r}")


class _Declared(Mapping[str, "type[AUCClassifier]"]):
    """Every method by its id, as declared; a class is loaded when it is looked up."""

    def __getitem__(self, key: str) -> type[AUCClassifier]:
        module = importlib.import_module(f"{__name__}.methods.{method_entries()[key]['module']}")
        return _class_in(module, key)

    def __contains__(self, key: object) -> bool:
        return key in method_entries()

    def __iter__(self) -> Iterator[str]:
        return iter(method_entries())

    def __len__(self) -> int:
        return len(method_entries())


class _Methods(_Declared):
    """Every method by its id, as a scikit-learn classifier."""

    def __getitem__(self, key: str) -> type[AUCClassifier]:
        from aucstudio.engine.base import estimator_class

        declared: type = super().__getitem__(key)
        found: type[AUCClassifier] = estimator_class(declared)
        return found


METHODS: Mapping[str, type[AUCClassifier]] = _Methods()
DECLARED: Mapping[str, type[AUCClassifier]] = _Declared()
"The same methods, for reading class attributes and settings; does not import scikit-learn."


def describe_methods() -> list[dict[str, Any]]:
    """Return every method and its settings as plain data."""
    return [method.describe() for method in DECLARED.values()]
