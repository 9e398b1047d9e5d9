"""Export a model as an ONNX graph in double precision.

Inputs are the columns, each of shape (rows, 1): doubles with NaN for a gap, or texts with "" for
a gap. Outputs are the raw ``score``, the ``predicted`` class and, of a calibrated model, the
``probability``, each of shape (rows,).

Symbols: X prepared rows; Z points about their centre; K kernel values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio import __version__
from aucstudio.engine.ensembles.remapped import of_inner
from aucstudio.engine.scorers import of_part
from aucstudio.project.data.preparing.levels import MISSING
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.export.nodes import Graph, add_probability, import_onnx
from aucstudio.project.store.export.requirements import date_inputs, require_kind

Array = NDArray[np.float64]

OPSET, ML_OPSET, IR_VERSION = 17, 5, 10

_ML = "ai.onnx.ml"


def check(model: Model) -> None:
    """Refuse a model without a graph, or any model if the package ``onnx`` is missing."""
    require_kind(model, _SCORERS, "ONNX")
    import_onnx()


def write_graph(model: Model) -> bytes:
    """Write a model as the bytes of an ONNX file.

    Raises
    ------
    InputError
        If the package ``onnx`` is not installed, or the kind of scorer has no graph.
    """
    check(model)
    learnt = model.preparation
    graph = Graph((*learnt.numbers, *learnt.categories), _outputs(model))
    X = _prepare(graph, model)
    raw = _SCORERS[model.scorer.kind](graph, X, model.scorer.settings() | model.scorer.arrays())
    score = graph.add("Add", raw, graph.constant(model.intercept), name="score")
    is_positive = graph.add("Greater", score, graph.constant(model.threshold))
    classes = [np.array(name, dtype=object) for name in (model.positive, model.negative)]
    graph.add("Where", is_positive, *map(graph.constant, classes), name="predicted")
    if model.calibration is not None:
        add_probability(graph, score, model.calibration)
    content: bytes = _finished(graph, model).SerializeToString()
    return content


def _outputs(model: Model) -> tuple[str, ...]:
    return ("score", "predicted", *([] if model.calibration is None else ["probability"]))


def _prepare(graph: Graph, model: Model) -> str:
    """Add the preprocessing; returns X."""
    learnt = model.preparation
    count = len(learnt.numbers)
    parts, marks = [], []
    if count:
        columns = [
            _shares(graph, given, learnt.shares[name]) if name in learnt.shares else given
            for given, name in zip(graph.inputs[:count], learnt.numbers, strict=True)
        ]
        cells = _measured(graph, graph.add("Concat", *columns, axis=1), learnt)
        cells = _near(graph, cells, learnt)
        if learnt.indicated:
            marks.append(_marks(graph, cells, learnt))
        if not learnt.keep_gaps:
            gaps = graph.add("IsNaN", cells)
            cells = graph.add("Where", gaps, graph.constant(learnt.medians), cells)
        parts.append((_ranks if len(learnt.knots) else _scaled)(graph, cells, learnt))
    parts += [
        _encode(
            graph, given, learnt.places(name, levels), len(levels), learnt.rest_place(name, levels)
        )
        for given, name, levels in zip(
            graph.inputs[count:], learnt.categories, learnt.levels, strict=True
        )
    ]
    return graph.add("Concat", *parts, *marks, axis=1)


def _scaled(graph: Graph, cells: str, learnt: Preparation) -> str:
    units = learnt.units
    if (units != 1).any():
        cells = graph.add("Div", cells, graph.constant(units))
    centred = graph.add("Sub", cells, graph.constant(learnt.means / units))
    return graph.add("Div", centred, graph.constant(learnt.scales / units))


def _ranks(graph: Graph, cells: str, learnt: Preparation) -> str:
    """Go along the straight lines between the knots, computed in halves as the ranks are."""
    count, width = learnt.knots.shape
    halves, axis = learnt.knots / 2, graph.constant(np.array([2]))
    ends = [graph.constant(learnt.knots[:, k]) for k in (0, -1)]
    lower, upper = graph.add("Less", cells, ends[0]), graph.add("Greater", cells, ends[1])
    inside = graph.add("Where", lower, ends[0], graph.add("Where", upper, ends[1], cells))
    column = graph.add("Unsqueeze", inside, axis)
    below = graph.add("GreaterOrEqual", column, graph.constant(learnt.knots[:, 1:-1]))
    counted = graph.add("Cast", below, to=graph.onnx.TensorProto.INT64)
    piece = graph.add("ReduceSum", counted, axis, keepdims=0)
    place = graph.add("Add", piece, graph.constant(np.arange(count) * (width - 1)))
    widths, rises = np.diff(halves, axis=1), np.diff(learnt.heights, axis=1)
    widths = np.where(widths > 0, widths, 1.0)
    half = graph.add("Mul", inside, graph.constant(0.5))
    along = graph.add("Sub", half, _at(graph, halves[:, :-1].ravel(), place))
    along = graph.add("Div", along, _at(graph, widths.ravel(), place))
    along = graph.add("Mul", along, _at(graph, rises.ravel(), place))
    return graph.add("Add", along, _at(graph, learnt.heights[:, :-1].ravel(), place))


def _marks(graph: Graph, cells: str, learnt: Preparation) -> str:
    """Make 0/1 indicator columns of missing values."""
    chosen = np.array([learnt.first_of(name) for name in learnt.indicated])
    missing = graph.add("IsNaN", graph.add("Gather", cells, graph.constant(chosen), axis=1))
    return graph.add("Cast", missing, to=graph.onnx.TensorProto.DOUBLE)


def _shares(graph: Graph, name: str, shares: Mapping[str, float]) -> str:
    """Replace levels by their shares; "" is missing, and unknown texts have none."""
    places = {level: k for k, level in enumerate(shares)}
    place = _places(graph, name, places, len(shares))
    return _at(graph, np.array([*shares.values(), 0.0]), place)


def _measured(graph: Graph, cells: str, learnt: Preparation) -> str:
    """Replace number codes of missing values by NaN."""
    gap = graph.constant(np.float64(np.nan)) if learnt.absent else ""
    for k in range(max(map(len, learnt.absent.values()), default=0)):
        # What equals NaN? Nothing: columns with fewer such numbers.
        numbers = [
            (*learnt.absent.get(name, ()), *[np.nan] * (k + 1))[k] for name in learnt.numbers
        ]
        cells = graph.add("Where", graph.add("Equal", cells, graph.constant(numbers)), gap, cells)
    return cells


def _near(graph: Graph, cells: str, learnt: Preparation) -> str:
    """Make NaN of what is beyond the limits."""
    if not np.isfinite([learnt.lows, learnt.highs]).any():
        return cells
    below = graph.add("Less", cells, graph.constant(learnt.lows))
    above = graph.add("Greater", cells, graph.constant(learnt.highs))
    far = graph.add("Or", below, above)
    return graph.add("Where", far, graph.constant(np.float64(np.nan)), cells)


def _places(graph: Graph, name: str, places: dict[str, int], rest: int) -> str:
    """Return the level indices of texts; "" is missing, unknown texts get that of the rest."""
    places.setdefault("", places.get(MISSING, rest))
    return graph.add(
        "LabelEncoder",
        name,
        domain=_ML,
        keys_strings=list(places),
        values_int64s=list(places.values()),
        default_int64=rest,
    )


def _encode(graph: Graph, name: str, places: dict[str, int], levels: int, rest: int) -> str:
    """Make columns of 0 and 1; other texts are no level, or the rare one."""
    level = _places(graph, name, places, rest)
    is_level = graph.add("Equal", level, graph.constant(np.arange(levels)[None]))
    return graph.add("Cast", is_level, to=graph.onnx.TensorProto.DOUBLE)


# ------------------------------------------------------------------ scorers


def _linear(graph: Graph, X: str, given: dict[str, Any]) -> str:
    return graph.add("MatMul", X, graph.constant(given["weights"]))


def _kernel(graph: Graph, X: str, given: dict[str, Any]) -> str:
    points, weights, kind = given["points"], given["weights"], given["kind"]
    if not len(points):
        # An empty product comes out as anything; a point without weight adds 0.
        points, weights = np.zeros((1, points.shape[1])), np.zeros(1)
    if kind == "rbf":
        K = _gaussian(graph, X, points, given["gamma"])
    elif kind == "poly":
        # Runtimes fuse a product with a factor behind it, in single precision.
        products = graph.add("MatMul", X, graph.constant(given["gamma"] * points.T))
        shifted = graph.add("Add", products, graph.constant(float(given["coef0"])))
        K = graph.add("Pow", shifted, graph.constant(float(given["degree"])))
    else:
        K = graph.add("MatMul", X, graph.constant(points.T))
    return graph.add("MatMul", K, graph.constant(weights))


def _fourier(graph: Graph, X: str, given: dict[str, Any]) -> str:
    turned = graph.add("MatMul", X, graph.constant(given["frequencies"].T))
    angles = graph.add("Add", turned, graph.constant(given["phases"]))
    return graph.add("MatMul", graph.add("Cos", angles), graph.constant(given["weights"]))


def _gaussian(graph: Graph, X: str, points: Array, gamma: float) -> str:
    # Distances are taken about a point of the data, where they keep their digits.
    centre = points.mean(axis=0)
    Z = points - centre
    x = graph.add("Sub", X, graph.constant(centre))
    products = graph.add("MatMul", x, graph.constant(-2.0 * Z.T))
    squares = graph.add("Mul", x, x)
    lengths = graph.add("ReduceSum", squares, graph.constant(np.array([1])), keepdims=1)
    partial = graph.add("Add", products, graph.constant((Z**2).sum(axis=1)))
    distances = graph.add("Add", partial, lengths)
    above = graph.add("Max", distances, graph.constant(0.0))
    return graph.add("Exp", graph.add("Mul", above, graph.constant(-float(gamma))))


def _trees(graph: Graph, X: str, given: dict[str, Any]) -> str:
    """Add the trees; node p of the scorer is both node p and leaf p of the operator."""
    left, right = given["left"], given["right"]
    nodes = np.arange(len(left))
    is_leaf = (left == nodes) & (right == nodes)
    values = graph.add(
        "TreeEnsemble",
        X,
        domain=_ML,
        n_targets=1,
        tree_roots=given["roots"].tolist(),
        nodes_featureids=given["feature"].tolist(),
        nodes_splits=graph.tensor(given["threshold"]),
        nodes_modes=graph.tensor(np.zeros(len(nodes), dtype=np.uint8)),
        nodes_missing_value_tracks_true=given["gaps_left"].astype(int).tolist(),
        nodes_truenodeids=left.tolist(),
        nodes_trueleafs=is_leaf[left].astype(int).tolist(),
        nodes_falsenodeids=right.tolist(),
        nodes_falseleafs=is_leaf[right].astype(int).tolist(),
        leaf_targetids=[0] * len(nodes),
        leaf_weights=graph.tensor(given["value"]),
    )
    summed = graph.add("Squeeze", values, graph.constant(np.array([1])))
    return graph.add("Add", summed, graph.constant(given["base"]))


def _additive(graph: Graph, X: str, given: dict[str, Any]) -> str:
    """Add the functions side by side: which piece of each, then the cubic there."""
    n_breaks, first = given["n_breaks"], np.cumsum(given["n_breaks"]) - given["n_breaks"]
    # No number is above the breaks that fill up the shorter lists.
    breaks = np.full((len(n_breaks), max([1, *n_breaks])), np.inf)
    for c, (start, count) in enumerate(zip(first, n_breaks, strict=True)):
        breaks[c, :count] = given["breaks"][start : start + count]
    x = graph.add("Gather", X, graph.constant(given["feature"].astype(np.int64)), axis=1)
    column = graph.add("Unsqueeze", x, graph.constant(np.array([2])))
    is_above = graph.add("Greater", column, graph.constant(breaks))
    counted = graph.add("Cast", is_above, to=graph.onnx.TensorProto.INT64)
    place = graph.add("ReduceSum", counted, graph.constant(np.array([2])), keepdims=0)
    piece = graph.add("Add", place, graph.constant(first + np.arange(len(first))))
    t = graph.add("Sub", x, _at(graph, given["origins"], piece))
    *lower, value = (_at(graph, part, piece) for part in given["coefficients"].T)
    for part in reversed(lower):
        value = graph.add("Add", graph.add("Mul", value, t), part)
    zero, axis = graph.constant(0.0), graph.constant(np.array([1]))
    known = graph.add("Where", graph.add("IsNaN", x), zero, value)
    return graph.add("ReduceSum", known, axis, keepdims=0)


def _at(graph: Graph, values: Array, places: str) -> str:
    return graph.add("Gather", graph.constant(values), places, axis=0)


def _combination(graph: Graph, X: str, given: dict[str, Any]) -> str:
    """Add up the parts, the log-odds of those that give shares."""
    scores = []
    for k, smoothing in enumerate(given["smoothings"].tolist()):
        of_this = of_part(k, given)
        score = _SCORERS[of_this.pop("scorer")](graph, X, of_this)
        if smoothing:
            above = graph.add("Add", score, graph.constant(smoothing))
            below = graph.add("Sub", graph.constant(1.0 + smoothing), score)
            score = graph.add("Log", graph.add("Div", above, below))
        scores.append(graph.add("Unsqueeze", score, graph.constant(np.array([1]))))
    base = graph.constant(float(given["base"]))
    if not scores:
        return base
    # One product for all: runtimes fuse a product with a factor behind it, in single precision.
    columns = graph.add("Concat", *scores, axis=1)
    return graph.add("Add", graph.add("MatMul", columns, graph.constant(given["factors"])), base)


def _viewed(graph: Graph, X: str, given: dict[str, Any]) -> str:
    """Take some of the columns, on other scales, with other values where they are missing."""
    seen = graph.add("Gather", X, graph.constant(given["columns"].astype(np.int64)), axis=1)
    if (given["factors"] != 1.0).any() or (given["shifts"] != 0.0).any():
        scaled = graph.add("Mul", seen, graph.constant(given["factors"]))
        seen = graph.add("Add", scaled, graph.constant(given["shifts"]))
    if not np.isnan(given["fills"]).all():
        missing = graph.add("IsNaN", seen)
        seen = graph.add("Where", missing, graph.constant(given["fills"]), seen)
    inner = of_inner(given)
    return _SCORERS[inner.pop("scorer")](graph, seen, inner)


_SCORERS: dict[str, Callable[[Graph, str, dict[str, Any]], str]] = {
    "linear": _linear,
    "kernel": _kernel,
    "fourier": _fourier,
    "trees": _trees,
    "additive": _additive,
    "combination": _combination,
    "viewed": _viewed,
}


# ------------------------------------------------------------------ model


def _finished(graph: Graph, model: Model) -> Any:
    helper, tensor = graph.onnx.helper, graph.onnx.TensorProto
    learnt = model.preparation
    numbers = {*learnt.numbers} - {*learnt.shares}
    wanted = (*learnt.numbers, *learnt.categories)
    inputs = [
        helper.make_tensor_value_info(
            given, tensor.DOUBLE if name in numbers else tensor.STRING, ["rows", 1]
        )
        for given, name in zip(graph.inputs, wanted, strict=True)
    ]
    outputs = [
        helper.make_tensor_value_info(
            name, tensor.STRING if name == "predicted" else tensor.DOUBLE, ["rows"]
        )
        for name in _outputs(model)
    ]
    versions = {"": OPSET, _ML: ML_OPSET}
    used = {node.domain for node in graph.nodes}
    made = helper.make_model(
        helper.make_graph(graph.nodes, "scores", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid(domain, versions[domain]) for domain in sorted(used)],
        ir_version=IR_VERSION,
        producer_name="AUC Studio",
        producer_version=__version__,
        doc_string=f"Scores for class {model.positive!r} of {model.label!r}, which is predicted "
        f"where the score exceeds {model.threshold!r}. Numbers are doubles, NaN where missing; "
        "texts are '' where missing.",
    )
    helper.set_model_props(made, _properties(model))
    return made


def _properties(model: Model) -> dict[str, str]:
    names = (
        *("method", "label", "positive", "negative", "trained_on"),
        *("threshold", "threshold_rule"),
    )
    properties = {name: str(getattr(model, name)) for name in names}
    if model.calibration is not None:
        properties |= {"calibration": model.calibration.kind, "calibrated_on": model.calibrated_on}
    if inputs := date_inputs(model):
        properties["inputs"] = json.dumps(inputs)
    return properties | {"params": json.dumps(dict(model.params), default=str)}
