"""Export a model as an ONNX graph in double precision.

Inputs are the columns, each of shape (rows, 1): doubles with NaN for a missing value, or
texts with "" for one. Outputs are the raw ``score``, the ``predicted`` class and, of a calibrated
model, the ``probability``, each of shape (rows,).

Symbols: X prepared rows; Z points about their centre; K kernel values.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from aucstudio import __version__
from aucstudio.engine.arrays import Array
from aucstudio.engine.calibration import TILT, Calibration, Sigmoid, Steps
from aucstudio.engine.ensembles.combined import CombinationScorer
from aucstudio.engine.ensembles.views import ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.scorers import EnsembleScorer, FourierScorer, KernelScorer, LinearScorer
from aucstudio.project.data.preparing.preparation import (
    CategoryFeatures,
    Preparation,
    category_features,
    number_features,
)
from aucstudio.project.data.preparing.scales import MISSING
from aucstudio.project.runs.model import Model
from aucstudio.project.store.export.document import (
    FACTS,
    ScorerVisitor,
    describe,
    printable,
    special_inputs,
)
from aucstudio.project.store.export.onnx_builder import Graph, Term, import_onnx

OPSET, ML_OPSET, IR_VERSION = 17, 5, 10

_ML = "ai.onnx.ml"
_CELLS = "Numbers are doubles, NaN if missing; texts are '' if missing. Dates: see the inputs."


def check(model: Model) -> None:
    """Refuse a model without a graph, or any model if the package ``onnx`` is missing."""
    _GraphWriter.check(model)
    import_onnx()


def write(model: Model) -> bytes:
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
    raw = _GraphWriter(graph).visit(model.scorer, X)
    score = graph.add("Add", raw, model.intercept, name="score")
    is_positive = graph.add("Greater", score, model.threshold)
    classes = [np.array(name, dtype=object) for name in (model.positive, model.negative)]
    graph.add("Where", is_positive, *classes, name="predicted")
    if model.calibration is not None:
        add_probability(graph, score, model.calibration)
    content: bytes = _finished(graph, model).SerializeToString()
    return content


def _outputs(model: Model) -> tuple[str, ...]:
    return ("score", "predicted", *([] if model.calibration is None else ["probability"]))


def _prepare(graph: Graph, model: Model) -> Term:
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
            cells = graph.add("Where", gaps, learnt.medians, cells)
        parts.append((_ranks if len(learnt.knots) else _scaled)(graph, cells, learnt))
    categories = zip(graph.inputs[count:], category_features(learnt), strict=True)
    parts += [_encode(graph, given, category) for given, category in categories]
    return graph.add("Concat", *parts, *marks, axis=1)


def _scaled(graph: Graph, cells: Term, learnt: Preparation) -> Term:
    units = learnt.units
    within = cells if (units == 1).all() else cells / units
    return (within - learnt.means / units) / (learnt.scales / units)


def _ranks(graph: Graph, cells: Term, learnt: Preparation) -> Term:
    return _on_lines(graph, cells, learnt.knots, learnt.heights)


def _on_lines(graph: Graph, x: Term, knots: Array, heights: Array) -> Term:
    """Go along the straight lines between the knots of each column, in halves as ranks do."""
    ends = [graph.constant(knots[..., k]) for k in (0, -1)]
    lower, upper = graph.add("Less", x, ends[0]), graph.add("Greater", x, ends[1])
    inside = graph.add("Where", lower, ends[0], graph.add("Where", upper, ends[1], x))
    pieces = knots.shape[-1] - 1
    first = np.arange(len(knots)) * pieces if knots.ndim > 1 else 0
    # A last knot beyond reach, so that there is something to compare with.
    beyond = np.full((*knots.shape[:-1], 1), np.inf)
    inner = np.concatenate([knots[..., 1:-1], beyond], axis=-1)
    place = graph.piece(inside, inner, "GreaterOrEqual", first)
    halves, rises = knots / 2, np.diff(heights, axis=-1)
    widths = np.diff(halves, axis=-1)
    tables = (halves[..., :-1], np.where(widths > 0, widths, 1.0), rises, heights[..., :-1])
    half, width, rise, height = (graph.at(table.ravel(), place) for table in tables)
    return (inside * 0.5 - half) / width * rise + height


def _marks(graph: Graph, cells: Term, learnt: Preparation) -> Term:
    """Make 0/1 indicator columns of missing values."""
    chosen = np.array([learnt.first_of(name) for name in learnt.indicated])
    missing = graph.add("IsNaN", graph.add("Gather", cells, chosen, axis=1))
    return graph.add("Cast", missing, to=graph.onnx.TensorProto.DOUBLE)


def _shares(graph: Graph, name: str, shares: Mapping[str, float]) -> Term:
    """Replace levels by their shares; "" is missing, and unknown texts have none."""
    places = {level: k for k, level in enumerate(shares)}
    return graph.at(np.array([*shares.values(), 0.0]), _places(graph, name, places, len(shares)))


def _measured(graph: Graph, cells: Term, learnt: Preparation) -> Term:
    """Replace number codes of missing values by NaN."""
    # Inputs that are parts of dates come without their codes.
    codes = [() if number.part else number.absent for number in number_features(learnt)]
    # Columns with fewer codes are filled up with NaN, which equals nothing.
    for numbers in itertools.zip_longest(*codes, fillvalue=np.nan):
        is_code = graph.add("Equal", cells, np.array(numbers, dtype=np.float64))
        cells = graph.add("Where", is_code, np.float64(np.nan), cells)
    return cells


def _near(graph: Graph, cells: Term, learnt: Preparation) -> Term:
    """Make NaN of what is beyond the limits."""
    if not np.isfinite([learnt.lows, learnt.highs]).any():
        return cells
    below = graph.add("Less", cells, learnt.lows)
    above = graph.add("Greater", cells, learnt.highs)
    far = graph.add("Or", below, above)
    return graph.add("Where", far, np.float64(np.nan), cells)


def _places(graph: Graph, name: str, places: Mapping[str, int], rest: int) -> Term:
    """Return the level indices of texts; "" is missing, unknown texts get that of the rest."""
    known = {"": places.get(MISSING, rest), **places}
    return graph.add(
        "LabelEncoder",
        name,
        domain=_ML,
        keys_strings=list(known),
        values_int64s=list(known.values()),
        default_int64=rest,
    )


def _encode(graph: Graph, name: str, category: CategoryFeatures) -> Term:
    """Make a column of 0 and 1 for each level."""
    level = _places(graph, name, category.places, category.rest)
    is_level = graph.add("Equal", level, np.arange(len(category.levels))[None])
    return graph.add("Cast", is_level, to=graph.onnx.TensorProto.DOUBLE)


# ------------------------------------------------------------------ scorers


class _GraphWriter(ScorerVisitor[Term]):
    """Adds scorers to a graph; each method takes the name of X and returns that of the scores."""

    title = "ONNX"

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def linear(self, scorer: LinearScorer, X: Term) -> Term:
        return self._graph.add("MatMul", X, scorer.weights)

    def kernel(self, scorer: KernelScorer, X: Term) -> Term:
        add = self._graph.add
        points, weights, kernel = scorer.points, scorer.weights, scorer.kernel
        if not len(points):
            # The product with an empty matrix is undefined; a point without weight adds 0.
            points, weights = np.zeros((1, points.shape[1])), np.zeros(1)
        if kernel.kind == "rbf":
            K = _gaussian(self._graph, X, points, kernel.gamma)
        elif kernel.kind == "poly":
            # Runtimes fuse a product with a factor behind it, in single precision.
            shifted = add("MatMul", X, kernel.gamma * points.T) + float(kernel.coef0)
            K = add("Pow", shifted, float(kernel.degree))
        else:
            K = add("MatMul", X, points.T)
        return add("MatMul", K, weights)

    def fourier(self, scorer: FourierScorer, X: Term) -> Term:
        add = self._graph.add
        turned = add("MatMul", X, scorer.frequencies.T)
        # A shifted sine: ONNX Runtime before 1.30 has no cosine of doubles.
        sines = add("Sin", turned + (scorer.phases + np.pi / 2))
        return add("MatMul", sines, scorer.weights)

    def trees(self, scorer: EnsembleScorer, X: Term) -> Term:
        """Add the trees; node p of the scorer is both node p and leaf p of the operator."""
        graph, left, right = self._graph, scorer.left, scorer.right
        nodes = np.arange(len(left))
        is_leaf = (left == nodes) & (right == nodes)
        values = graph.add(
            "TreeEnsemble",
            X,
            domain=_ML,
            n_targets=1,
            tree_roots=scorer.roots.tolist(),
            nodes_featureids=scorer.feature.tolist(),
            nodes_splits=graph.tensor(scorer.threshold),
            nodes_modes=graph.tensor(np.zeros(len(nodes), dtype=np.uint8)),
            nodes_missing_value_tracks_true=scorer.gaps_left.astype(int).tolist(),
            nodes_truenodeids=left.tolist(),
            nodes_trueleafs=is_leaf[left].astype(int).tolist(),
            nodes_falsenodeids=right.tolist(),
            nodes_falseleafs=is_leaf[right].astype(int).tolist(),
            leaf_targetids=[0] * len(nodes),
            leaf_weights=graph.tensor(scorer.value),
        )
        return graph.add("Squeeze", values, np.array([1])) + scorer.base

    def additive(self, scorer: AdditiveScorer, X: Term) -> Term:
        """Add the functions side by side: the piece of each, then its cubic there."""
        graph, counts = self._graph, scorer.n_breaks
        first = np.cumsum(counts) - counts
        # Shorter lists of breaks are filled up with a break that no number exceeds.
        breaks = np.full((len(counts), max([1, *counts])), np.inf)
        for c, (start, count) in enumerate(zip(first, counts, strict=True)):
            breaks[c, :count] = scorer.breaks[start : start + count]
        x = graph.add("Gather", X, scorer.feature.astype(np.int64), axis=1)
        piece = graph.piece(x, breaks, "Greater", first + np.arange(len(first)))
        t = x - graph.at(scorer.origins, piece)
        *lower, value = (graph.at(part, piece) for part in scorer.coefficients.T)
        for part in reversed(lower):
            value = value * t + part
        known = graph.add("Where", graph.add("IsNaN", x), 0.0, value)
        return graph.add("ReduceSum", known, np.array([1]), keepdims=0)

    def combination(self, scorer: CombinationScorer, X: Term) -> Term:
        """Add up the parts, or the log-odds of a part that is a probability."""
        add, columns = self._graph.add, []
        for part in scorer.parts:
            score = self.visit(part.scorer, X)
            if part.smoothing:
                below = add("Sub", 1.0 + part.smoothing, score)
                score = add("Log", (score + part.smoothing) / below)
            columns.append(add("Unsqueeze", score, np.array([1])))
        base = self._graph.constant(float(scorer.base))
        if not columns:
            return base
        # One product for all: runtimes fuse a product with a factor behind it, in single precision.
        scores, factors = add("Concat", *columns, axis=1), scorer.arrays()["factors"]
        return add("MatMul", scores, factors) + base

    def viewed(self, scorer: ViewedScorer, X: Term) -> Term:
        """Select columns, rescale them and fill missing values."""
        add, view = self._graph.add, scorer.view
        seen = add("Gather", X, view.columns.astype(np.int64), axis=1)
        if (view.factors != 1.0).any() or (view.shifts != 0.0).any():
            seen = seen * view.factors + view.shifts
        if not np.isnan(view.fills).all():
            seen = add("Where", add("IsNaN", seen), view.fills, seen)
        return self.visit(scorer.scorer, seen)


def _gaussian(graph: Graph, X: Term, points: Array, gamma: float) -> Term:
    # Distances are taken about a point of the data, where they keep their digits.
    centre = points.mean(axis=0)
    Z = points - centre
    x = X - centre
    products = graph.add("MatMul", x, -2.0 * Z.T) + (Z**2).sum(axis=1)
    distances = products + graph.add("ReduceSum", x * x, np.array([1]), keepdims=1)
    return graph.add("Exp", graph.add("Max", distances, 0.0) * -float(gamma))


# ------------------------------------------------------------------ model


def _finished(graph: Graph, model: Model) -> Any:
    helper, tensor = graph.onnx.helper, graph.onnx.TensorProto
    learnt = model.preparation
    types = dict.fromkeys({*learnt.numbers} - {*learnt.shares}, tensor.DOUBLE)
    special = special_inputs(model)
    inputs = [
        helper.make_tensor_value_info(
            given, types.get(name, tensor.STRING), ["rows", 1], special.get(name, "")
        )
        for given, name in zip(graph.inputs, (*learnt.numbers, *learnt.categories), strict=True)
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
        doc_string=printable(" ".join([*describe(model), _CELLS])),
    )
    helper.set_model_props(made, _properties(model))
    return made


def _properties(model: Model) -> dict[str, str]:
    properties = {name: str(getattr(model, name)) for name in ("method", *FACTS)}
    if model.calibration is not None:
        properties |= {"calibration": model.calibration.kind, "calibrated_on": model.calibrated_on}
    if inputs := special_inputs(model):
        properties["inputs"] = json.dumps(inputs)
    return properties | {"params": json.dumps(dict(model.params), default=str)}


_FURTHEST = 1e100


def add_probability(graph: Graph, score: Term, made: Calibration) -> None:
    """Add the output ``probability`` of a score."""
    u = (score - made.centre) / made.scale
    u = graph.add("Max", graph.add("Min", u, _FURTHEST), -_FURTHEST)
    size = graph.add("Abs", u)
    v = graph.add("Sign", u) * graph.add("Log", size + 1.0)
    tilt = v / (graph.add("Abs", v) + 1.0) * (TILT / 2) + TILT / 2
    share = _sigmoid(u, made) if isinstance(made, Sigmoid) else _steps(graph, u, made)
    graph.add("Add", share * (1 - TILT), tilt, name="probability")


def _softplus(z: Term) -> Term:
    """Add ln(1 + exp(z)), which does not overflow."""
    graph = z.graph
    rest = graph.add("Log", graph.add("Exp", graph.add("Neg", graph.add("Abs", z))) + 1.0)
    return graph.add("Max", z, 0.0) + rest


def _sigmoid(u: Term, made: Sigmoid) -> Term:
    z = u * made.slope + made.offset
    eta = _softplus(z) * made.high - _softplus(z * -1.0) * made.low + made.shift
    return u.graph.add("Exp", _softplus(eta * -1.0) * -1.0)


def _steps(graph: Graph, u: Term, made: Calibration) -> Term:
    assert isinstance(made, Steps)
    if len(made.knots) == 1:
        return u * 0.0 + float(made.values[0])
    return _on_lines(graph, u, made.knots, made.values)
