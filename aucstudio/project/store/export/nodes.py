"""Nodes and constants of an ONNX graph in the making."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from aucstudio.project.errors import InputError


def import_onnx() -> Any:
    """Import the package onnx.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise InputError(
            "export to ONNX needs the package onnx, which is not installed: "
            "pip install 'aucstudio[onnx]'",
            setting="to",
        ) from error


class Graph:
    """Nodes and constants in the making.

    Parameters
    ----------
    columns : list of str
        Their names are the names of the inputs, as far as these are free.
    outputs : sequence of str
    """

    def __init__(self, columns: Sequence[str], outputs: Sequence[str]) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._taken = set(outputs)
        self.inputs = [self._free(name) for name in columns]

    def _free(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def add(self, op: str, *inputs: str, name: str = "", domain: str = "", **settings: Any) -> str:
        """Add an operation; returns the name of its result."""
        result = name or self._free(f"{op}_{len(self.nodes)}")
        self.nodes.append(
            self.onnx.helper.make_node(op, inputs, [result], domain=domain, **settings)
        )
        return result

    def tensor(self, value: Any, name: str = "tensor") -> Any:
        """Make a tensor of an array; texts come as objects."""
        return self.onnx.numpy_helper.from_array(np.asarray(value), name)

    def constant(self, value: Any) -> str:
        """Add a constant; returns its name."""
        name = self._free(f"constant_{len(self.constants)}")
        self.constants.append(self.tensor(value, name))
        return name
