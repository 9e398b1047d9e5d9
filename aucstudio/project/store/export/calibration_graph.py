"""A calibration as nodes of an ONNX graph.

Only operations that runtimes have in double precision.
"""

from __future__ import annotations

import numpy as np

from aucstudio.engine.calibration import TILT, Calibration, Sigmoid, Steps
from aucstudio.project.store.export.nodes import Graph

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
    column = graph.add("Unsqueeze", within, number(np.array([1])))
    # A last knot beyond reach, so that there is something to compare with.
    is_above = graph.add("Greater", column, number(np.append(knots[1:-1], np.inf)[None]))
    counted = graph.add("Cast", is_above, to=graph.onnx.TensorProto.INT64)
    piece = graph.add("ReduceSum", counted, number(np.array([1])), keepdims=0)
    start, width, base, rise = (
        graph.add("Gather", number(part), piece, axis=0)
        for part in (knots[:-1], np.diff(knots), values[:-1], np.diff(values))
    )
    done = graph.add("Div", graph.add("Sub", within, start), width)
    return graph.add("Add", base, graph.add("Mul", done, rise))
