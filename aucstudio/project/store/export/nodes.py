"""Build nodes and constants of an ONNX graph."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from aucstudio.engine.calibration import TILT, Calibration, Sigmoid, Steps
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
            "ONNX export needs the package onnx, which is not installed: "
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

    def at(self, values: Any, places: str) -> str:
        """Add the values at some places."""
        return self.add("Gather", self.constant(values), places, axis=0)

    def piece(self, x: str, breaks: Any, comparison: str, first: Any = 0) -> str:
        """Add, for each number, how many breaks it exceeds, plus the index of its first piece.

        Parameters
        ----------
        x : str
            Of shape (...).
        breaks : ndarray of shape (..., k)
        comparison : {"Greater", "GreaterOrEqual"}
        first : int or ndarray
        """
        axis = self.constant(np.array([np.ndim(breaks)]))
        column = self.add("Unsqueeze", x, axis)
        is_above = self.add(comparison, column, self.constant(breaks))
        counted = self.add("Cast", is_above, to=self.onnx.TensorProto.INT64)
        place = self.add("ReduceSum", counted, axis, keepdims=0)
        return self.add("Add", place, self.constant(np.asarray(first, dtype=np.int64)))


_FURTHEST = 1e100


def add_probability(graph: Graph, score: str, made: Calibration) -> None:
    """Add the output ``probability`` of a score."""
    number = graph.constant
    u = graph.add("Div", graph.add("Sub", score, number(made.centre)), number(made.scale))
    u = graph.add("Max", graph.add("Min", u, number(_FURTHEST)), number(-_FURTHEST))
    logs = graph.add("Log", graph.add("Add", graph.add("Abs", u), number(1.0)))
    v = graph.add("Mul", graph.add("Sign", u), logs)
    tilt = graph.add("Div", v, graph.add("Add", graph.add("Abs", v), number(1.0)))
    half = number(TILT / 2)
    raised = graph.add("Add", graph.add("Mul", tilt, half), half)
    share = _sigmoid(graph, u, made) if isinstance(made, Sigmoid) else _steps(graph, u, made)
    kept = graph.add("Mul", share, number(1 - TILT))
    graph.add("Add", kept, raised, name="probability")


def _softplus(graph: Graph, z: str) -> str:
    """Add ln(1 + exp(z)), which does not overflow."""
    vanishing = graph.add("Exp", graph.add("Neg", graph.add("Abs", z)))
    rest = graph.add("Log", graph.add("Add", vanishing, graph.constant(1.0)))
    return graph.add("Add", graph.add("Max", z, graph.constant(0.0)), rest)


def _sigmoid(graph: Graph, u: str, made: Sigmoid) -> str:
    number = graph.constant
    z = graph.add("Add", graph.add("Mul", u, number(made.slope)), number(made.offset))
    high = graph.add("Mul", _softplus(graph, z), number(made.high))
    low = graph.add("Mul", _softplus(graph, graph.add("Neg", z)), number(made.low))
    eta = graph.add("Add", graph.add("Sub", high, low), number(made.shift))
    return graph.add("Exp", graph.add("Neg", _softplus(graph, graph.add("Neg", eta))))


def _steps(graph: Graph, u: str, made: Calibration) -> str:
    assert isinstance(made, Steps)
    number, knots, values = graph.constant, made.knots, made.values
    if len(knots) == 1:
        return graph.add("Add", graph.add("Mul", u, number(0.0)), number(float(values[0])))
    within = graph.add("Max", graph.add("Min", u, number(knots[-1])), number(knots[0]))
    # A last knot beyond reach, so that there is something to compare with.
    piece = graph.piece(within, np.append(knots[1:-1], np.inf), "Greater")
    parts = (knots[:-1], np.diff(knots), values[:-1], np.diff(values))
    start, width, base, rise = (graph.at(part, piece) for part in parts)
    done = graph.add("Div", graph.add("Sub", within, start), width)
    return graph.add("Add", base, graph.add("Mul", done, rise))
