"""Runs against each other: figures of each, a test of every pair, and both as text.

One held-out part is compared by DeLong's paired test (for the partial AUC, by its components);
several splits by the corrected resampled t test on the differences split by split. Holm's
correction runs over all pairs that can be compared.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Callable, Sequence

from aucstudio.engine import inference, roc
from aucstudio.engine.monitor import Stopped
from aucstudio.project.experiment import Band
from aucstudio.project.record import RunRecord, SplitResult
from aucstudio.project.summary import (
    LEVEL,
    Summary,
    auc_summary,
    pauc_summary,
    same_rows,
    train_auc,
)

Named = tuple[str, RunRecord]
Progress = Callable[[float], object]

AUC, PAUC = "auc", "pauc"


@dataclasses.dataclass(frozen=True)
class RunFigures:
    """The row of one run.

    Attributes
    ----------
    name : str
    auc, pauc : Summary
        Held out; the partial AUC is normalised by the band's width.
    train_auc : float
    fit_seconds : float
    splits : int
    """

    name: str
    auc: Summary
    pauc: Summary
    train_auc: float
    fit_seconds: float
    splits: int

    @property
    def gap(self) -> float:
        """By how much the AUC is higher on the training rows."""
        return self.train_auc - self.auc.value


@dataclasses.dataclass(frozen=True)
class PairComparison:
    """Two runs on the same rows, or why they cannot be compared.

    Attributes
    ----------
    a, b : str
    difference, low, high : float
        Measure of ``a`` minus that of ``b`` with its 95 % interval.
    p, p_holm : float
        Two-sided; the second corrected for all pairs compared at once.
    refused : str
        The reason where nothing was computed; the numbers are NaN then.
    """

    a: str
    b: str
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_holm: float = math.nan
    refused: str = ""

    @property
    def settled(self) -> bool:
        """Whether the difference stands after the correction."""
        return self.p_holm < 1 - LEVEL

    @property
    def better(self) -> str:
        """Name of the run that ranks better."""
        return self.a if self.difference >= 0 else self.b


def run_figures(name: str, record: RunRecord, band: Band) -> RunFigures:
    """Compute the figures of one run from its stored scores."""
    return RunFigures(
        name,
        auc_summary(record),
        pauc_summary(record, band),
        train_auc(record),
        record.fit_seconds,
        len(record.splits),
    )


def compare_runs(
    runs: Sequence[Named], band: Band, measure: str = AUC, progress: Progress | None = None
) -> list[PairComparison]:
    """Compare every run with every later one.

    Parameters
    ----------
    runs : sequence of (name, record)
        Each with at least one finished split.
    band : (float, float)
    measure : {"auc", "pauc"}
        Which area; the partial one is normalised by the band's width.
    progress : callable, optional
        Hears the fraction done after every pair; returning True stops.

    Raises
    ------
    Stopped
        If ``progress`` returned True.
    """
    band = (0.0, 1.0) if measure == AUC else band
    todo = [(a, b) for k, a in enumerate(runs) for b in runs[k + 1 :]]
    pairs = []
    for done, (a, b) in enumerate(todo, start=1):
        pairs.append(_compare(a, b, band))
        if progress is not None and progress(done / len(todo)):
            raise Stopped("comparing")
    corrected = inference.holm([pair.p for pair in pairs])
    return [
        dataclasses.replace(pair, p_holm=float(p)) for pair, p in zip(pairs, corrected, strict=True)
    ]


def _compare(a: Named, b: Named, band: Band) -> PairComparison:
    names = a[0], b[0]
    refused = _refusal(a[1], b[1])
    if refused:
        return PairComparison(*names, refused=refused)
    if len(a[1].splits) == 1:
        return PairComparison(*names, *_one_split(a[1].splits[0], b[1].splits[0], band))
    return PairComparison(*names, *_several_splits(a[1].splits, b[1].splits, band))


def _refusal(a: RunRecord, b: RunRecord) -> str:
    if same_rows(a, b):
        return ""
    if a.experiment.data.sha256 != b.experiment.data.sha256:
        return "trained on different tables"
    first, second = (record.experiment.validation.describe() for record in (a, b))
    if first != second:
        return f"split differently ({first} against {second})"
    if len(a.splits) != len(b.splits):
        return f"different splits finished ({len(a.splits)} against {len(b.splits)})"
    try:
        for one, other in zip(a.splits, b.splits, strict=True):
            inference.check_same_rows(
                one.test_rows, one.test_positive, other.test_rows, other.test_positive
            )
    except inference.NotSameRows as reason:
        return str(reason)
    return "scored on different rows"


def _one_split(a: SplitResult, b: SplitResult, band: Band) -> tuple[float, float, float, float]:
    data = a.test_positive, a.test_scores, b.test_scores
    if band == (0.0, 1.0):
        found = inference.delong_test(*data, LEVEL)
    else:
        found = inference.pauc_test(*data, *band, LEVEL)
    return found.difference, found.low, found.high, found.p


def _several_splits(
    a: Sequence[SplitResult], b: Sequence[SplitResult], band: Band
) -> tuple[float, float, float, float]:
    ours, theirs = ([_area(split, band) for split in splits] for splits in (a, b))
    found = inference.splits_test(ours, theirs, len(a[0].train_rows), len(a[0].test_rows), LEVEL)
    return found.difference, found.low, found.high, found.p


def _area(split: SplitResult, band: Band) -> float:
    if band == (0.0, 1.0):
        return roc.auc(split.test_positive, split.test_scores)
    return roc.partial_auc(split.test_positive, split.test_scores, *band).normalized


# ----------------------------------------------------------------- verdict


def verdict(pair: PairComparison) -> str:
    """Say in a word or two what a comparison settles."""
    if pair.refused:
        return pair.refused
    if math.isnan(pair.p):
        return "too little to tell by"
    return f"{pair.better} is better" if pair.settled else "not told apart"


# ----------------------------------------------------------------- text exports

_RUN_HEADS = (
    *("Run", "AUC", "AUC low", "AUC high", "pAUC", "pAUC low", "pAUC high"),
    *("Training AUC", "Seconds per fit", "Splits"),
)
_PAIR_HEADS = ("A", "B", "A - B", "Low", "High", "p", "p (Holm)", "Note")

Cell = str | float | int
Sheet = tuple[tuple[str, ...], list[tuple[Cell, ...]]]


def as_csv(
    runs: Sequence[RunFigures], pairs: Sequence[PairComparison], delimiter: str = ","
) -> str:
    """Write both tables with full figures, a blank line between them; unknown is empty."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    for k, (heads, rows) in enumerate(_sheets(runs, pairs)):
        if k:
            text.write("\n")
        writer.writerow(heads)
        writer.writerows([_exact(cell) for cell in row] for row in rows)
    return text.getvalue()


def as_markdown(runs: Sequence[RunFigures], pairs: Sequence[PairComparison]) -> str:
    """Write both tables as Markdown, rounded."""
    return "\n".join(_markdown(*sheet) for sheet in _sheets(runs, pairs))


def as_latex(runs: Sequence[RunFigures], pairs: Sequence[PairComparison]) -> str:
    """Write both tables as LaTeX tabulars that need no package, rounded."""
    return "\n".join(_latex(*sheet) for sheet in _sheets(runs, pairs))


def _sheets(runs: Sequence[RunFigures], pairs: Sequence[PairComparison]) -> list[Sheet]:
    sheets: list[Sheet] = [(_RUN_HEADS, [_run_row(run) for run in runs])]
    if pairs:
        sheets.append((_PAIR_HEADS, [dataclasses.astuple(pair) for pair in pairs]))
    return sheets


def _run_row(run: RunFigures) -> tuple[Cell, ...]:
    areas = [x for s in (run.auc, run.pauc) for x in (s.value, s.low, s.high)]
    return (run.name, *areas, run.train_auc, run.fit_seconds, run.splits)


def _exact(cell: Cell) -> str:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else repr(float(cell))
    return str(cell)


def _rounded(cell: Cell) -> str:
    if not isinstance(cell, float):
        return str(cell)
    if math.isnan(cell):
        return ""
    text = f"{cell:.3f}"
    return f"{cell:.2g}" if cell and text.strip("-") == "0.000" else text


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    cells = [[_rounded(cell).replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---:" if numeric else "---" for numeric in _numeric(rows[0])]
    lines = [heads, rule, *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _latex(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    columns = "".join("r" if numeric else "l" for numeric in _numeric(rows[0]))
    lines = [heads, *([_latex_cell(cell) for cell in row] for row in rows)]
    head, *body = (f"{' & '.join(line)} \\\\" for line in lines)
    begin = f"\\begin{{tabular}}{{{columns}}}"
    parts = [begin, "\\hline", head, "\\hline", *body, "\\hline", "\\end{tabular}", ""]
    return "\n".join(parts)


def _numeric(row: Sequence[Cell]) -> list[bool]:
    return [not isinstance(cell, str) for cell in row]


_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
}


def _latex_cell(cell: Cell) -> str:
    text = _rounded(cell)
    if isinstance(cell, float):
        return f"${text}$" if text.startswith("-") else text
    return "".join(_LATEX.get(character, character) for character in text)
