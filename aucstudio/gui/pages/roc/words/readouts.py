"""Values at the pointer and in the legend, as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aucstudio.engine import inference
from aucstudio.engine.roc import cuts as cuts_of
from aucstudio.gui.common import curves
from aucstudio.gui.common.curves import SCALES, RunCurves, area_words, run_curves, vertex_words
from aucstudio.gui.common.plain_text import Markup, joined, rich, shortened
from aucstudio.gui.pages.roc.layers.operating_point import FocusedPoint
from aucstudio.gui.pages.roc.picture.curve_kinds import Face, Shape
from aucstudio.gui.pages.roc.picture.legend import LegendRow
from aucstudio.gui.pages.roc.picture.lines import Drawn, shapes_of
from aucstudio.gui.pages.roc.words.sentences import trained_elsewhere
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.results.summary import LEVEL
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.words import figure_words, interval_words

ELSEWHERE = "†"


def point_words(face: Face, drawn: Drawn, vertex: int) -> str:
    """Describe a point of a line."""
    words = _shape_words(face, drawn.shape, vertex)
    return f"{shortened(drawn.run.look.name)}   {words}"


def _shape_words(face: Face, shape: Shape, vertex: int) -> str:
    if face.key == "roc":
        return vertex_words(shape.trace, vertex)
    x, y = (float(values[vertex]) for values in shape.points)
    if shape.spread is not None:
        spread = f"(sd {shape.spread[vertex]:.3f} over {shape.trace.splits} splits)"
        return f"{face.x_title.lower()} {x:.3f}   mean {face.y_title.lower()} {y:.3f} {spread}"
    at = f"{face.x_title.lower()} {x:.3f}   {face.y_title.lower()} {y:.3f}"
    if not shape.counted:
        return at
    known = vertex_words(shape.trace, vertex)
    return known if face.key == "precision" else f"{at}   {known}"


def operating_words(point: FocusedPoint) -> str:
    """Describe the operating point."""
    split = run_curves(point.run.record).every[point.split]
    words = vertex_words(split, point.vertex, point.threshold)
    return f"{shortened(point.run.look.name)}   {words}"


def band_words(run: ShownRun | None, band: Band, scale: str) -> str:
    """Describe an FPR range, and the partial area of a run in it."""
    words = f"FPR {curves.band_words(band)}"
    if run is None:
        return words
    known = run_curves(run.record)
    area = f"{SCALES[scale]} {area_words(known.area(band, scale), scale)}"
    return f"{shortened(run.look.name)}   {words}   {area}   {deciding_words(known, band)}"


def deciding_words(known: RunCurves, band: Band) -> str:
    """State how many negatives lie in a range, in the smallest split."""
    least = min(known.areas(band), key=lambda area: area.negatives)
    return f"{least.negatives:,} of {least.of_negatives:,} negatives"


def legend_row(run: ShownRun, band: Band) -> LegendRow:
    """Name a run in the legend, with a mark where it was trained for another range."""
    mark = f" {ELSEWHERE}" if trained_elsewhere(run.record, band) else ""
    return LegendRow(run.look, f"{shortened(run.look.name)}{mark}")


def figure_cells(face: Face, run: ShownRun) -> list[str]:
    """Write the figure of a picture and its 95 % interval, if any."""
    record = run.record
    if face.key == "roc":
        auc = run_curves(record).auc
        return [figure_words(auc.value), interval_words(auc.low, auc.high)]
    values = shapes_of(record, face).figures
    if len(values) < 2:
        return [figure_words(values[0]), ""]
    train, test = record.sizes
    top = np.inf if face.key == "lift" else 1.0
    once = record.experiment.validation.disjoint
    share = test / (train + test)
    found = inference.splits_interval(values, LEVEL, share, bounds=(0.0, top), disjoint=once)
    return [figure_words(found.value), interval_words(found.low, found.high)]


def notes(face: Face, runs: Sequence[ShownRun], band: Band, confidence: str) -> list[str]:
    """Return the small print under the legend."""
    if face.key != "roc" or not runs:
        return []
    known = min((run_curves(run.record) for run in runs), key=lambda known: known.negatives(band))
    several = any(len(run.record.splits) > 1 for run in runs)
    deciding = f"{deciding_words(known, band)} in the range{' of a split' if several else ''}"
    sentences = [] if band == (0.0, 1.0) else [deciding]
    weighing = {run.record.experiment.weight for run in runs} - {None}
    sentences += [f"Weighted by {name}" for name in sorted(filter(None, weighing))]
    if any(trained_elsewhere(run.record, band) for run in runs):
        sentences.append(f"{ELSEWHERE} trained for another FPR range")
    if confidence:
        sentences.append(f"Band: {confidence}")
    return sentences


def figure_table(face: Face, runs: Sequence[ShownRun], band: Band) -> Markup:
    """Write the figures of the runs, and partial areas on every scale with their limits."""
    if not runs:
        return joined("", ())
    heads = ["", face.figure_title, "95 %"]
    rows = [[shortened(run.look.name), *figure_cells(face, run)] for run in runs]
    title = face.title
    if face.key == "roc":
        heads += [f"pAUC, {scale}" for scale in ("raw", "normalised", "McClish")] + ["negatives"]
        rows = [cells + _area_cells(run, band) for cells, run in zip(rows, runs, strict=True)]
        limits = run_curves(runs[0].record).areas(band)[0]
        chance, best = limits.chance, limits.maximum
        ratio = f"{chance / best:.3f}"
        rows.append(["chance", "0.500", "", area_words(chance, "raw"), ratio, "0.500", ""])
        rows.append(["perfect", "1.000", "", area_words(best, "raw"), "1.000", "1.000", ""])
        title = f"ROC, FPR {curves.band_words(band)}"
    lines = [_html_row(cells) for cells in (heads, *rows)]
    return rich("<b>{}</b><table cellspacing=6>{}</table>", title, joined("", lines))


def _area_cells(run: ShownRun, band: Band) -> list[str]:
    known = run_curves(run.record)
    raw, normal, standard = (known.area(band, s) for s in ("raw", "normalized", "mcclish"))
    deciding = f"{known.negatives(band):,}"
    figures = area_words(raw, "raw"), figure_words(normal), figure_words(standard)
    return [*figures, deciding]


def _html_row(cells: Sequence[str]) -> Markup:
    name, *numbers = cells
    cut = joined("", (rich("<td align=right>{}</td>", number) for number in numbers))
    return rich("<tr><td>{}</td>{}</tr>", name, cut)


def line_columns(face: Face, lines: Sequence[Drawn]) -> dict[str, list[object]]:
    """Return the points of the lines in long form; split 0 is the average."""
    across, up = face.names
    columns: dict[str, list[object]] = {
        name: [] for name in ("run", "split", across, up, "threshold")
    }
    for drawn in lines:
        shape, curve = drawn.shape, drawn.shape.trace.curve
        x, y = shape.points
        averaged = shape.spread is not None and shape.trace.splits > 1
        cuts = (
            cuts_of(curve)
            if curve is not None
            and len(x) == len(curve.thresholds)
            and (shape.counted or face.key == "roc")
            else np.full(len(x), np.nan)
        )
        columns["run"] += [drawn.run.look.name] * len(x)
        columns["split"] += [0 if averaged else shape.trace.split + 1] * len(x)
        columns[across] += x.tolist()
        columns[up] += y.tolist()
        columns["threshold"] += np.asarray(cuts, dtype=np.float64).tolist()
    return columns
