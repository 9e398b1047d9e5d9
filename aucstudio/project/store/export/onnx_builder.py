"""Nodes and constants of an ONNX graph, as expressions."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array
from aucstudio.project.data.columns import free_name
from aucstudio.project.errors import input_error


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
        raise input_error("onnx_absent") from error


class Term(str):
    """The name of a result in a graph; an operator adds the node that computes its result."""

    graph: Graph

    def __add__(self, other: Operand) -> Term:  # type: ignore[override]
        return self.graph.add("Add", self, other)

    def __sub__(self, other: Operand) -> Term:
        return self.graph.add("Sub", self, other)

    def __mul__(self, other: Operand) -> Term:  # type: ignore[override]
        return self.graph.add("Mul", self, other)

    def __truediv__(self, other: Operand) -> Term:
        return self.graph.add("Div", self, other)


Operand = Term | float | NDArray[Any]


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

    def _term(self, name: str) -> Term:
        made = Term(name)
        made.graph = self
        return made

    def _free(self, name: str) -> str:
        free = free_name(name, self._taken)
        self._taken.add(free)
        return free

    def add(
        self, op: str, *inputs: str | Operand, name: str = "", domain: str = "", **settings: Any
    ) -> Term:
        """Add an operation on results, given by name, and constants; returns its result."""
        names = [given if isinstance(given, str) else self.constant(given) for given in inputs]
        result = self._term(name or self._free(f"{op}_{len(self.nodes)}"))
        self.nodes.append(
            self.onnx.helper.make_node(op, names, [result], domain=domain, **settings)
        )
        return result

    def tensor(self, value: Any, name: str = "tensor") -> Any:
        """Make a tensor of an array; texts come as objects."""
        return self.onnx.numpy_helper.from_array(np.asarray(value), name)

    def constant(self, value: Any) -> Term:
        """Add a constant; returns its name."""
        name = self._term(self._free(f"constant_{len(self.constants)}"))
        self.constants.append(self.tensor(value, name))
        return name

    def at(self, values: Array, places: str) -> Term:
        """Add the values at some places."""
        return self.add("Gather", values, places, axis=0)

    def piece(self, x: Term, breaks: Any, comparison: str, first: Any = 0) -> Term:
        """Add, for each number, how many breaks it exceeds, plus the index of its first piece.

        Parameters
        ----------
        x : str
            Of shape (...).
        breaks : ndarray of shape (..., k)
        comparison : {"Greater", "GreaterOrEqual"}
        first : int or ndarray
        """
        axis = np.array([np.ndim(breaks)])
        column = self.add("Unsqueeze", x, axis)
        is_above = self.add(comparison, column, breaks)
        counted = self.add("Cast", is_above, to=self.onnx.TensorProto.INT64)
        place = self.add("ReduceSum", counted, axis, keepdims=0)
        return self.add("Add", place, np.asarray(first, dtype=np.int64))
