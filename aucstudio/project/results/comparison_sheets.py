"""Comparisons as CSV, Markdown and LaTeX.

The first table has a row for each run, the second one for each pair.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from aucstudio.project.results.comparison import (
    BONFERRONI,
    HOLM,
    UNCORRECTED,
    Comparison,
    PairComparison,
    RunFigures,
    WinCount,
)
from aucstudio.project.store.sheets import write_rows

CORRECTION_NAMES = {HOLM: "Holm", BONFERRONI: "Bonferroni", UNCORRECTED: "None"}

_RUN_HEADS = (
    *("Run", "AUC", "AUC low", "AUC high", "pAUC", "pAUC low", "pAUC high"),
    *("Training AUC", "Wins", "Ties", "Losses", "Mean rank"),
    *("Seconds per fit", "Splits", "Trained for FPR"),
)
_RULES, _BOOKTABS = ("\\hline",) * 3, ("\\toprule", "\\midrule", "\\bottomrule")

Cell = str | float | int
Sheet = tuple[tuple[str, ...], list[tuple[Cell, ...]]]


def as_csv(found: Comparison, delimiter: str = ",") -> str:
    """Write both tables with full figures, a blank line between them; unknown is empty."""
    text = io.StringIO()
    for k, (heads, rows) in enumerate(_sheets(found)):
        if k:
            text.write("\n")
        write_rows(text, [heads, *rows], delimiter)
    return text.getvalue()


def as_markdown(found: Comparison) -> str:
    """Write both tables as Markdown, rounded."""
    return "\n".join(_markdown(*sheet) for sheet in _sheets(found))


def as_latex(found: Comparison, *, booktabs: bool = False) -> str:
    """Write both tables as LaTeX tabulars, rounded.

    Parameters
    ----------
    found : Comparison
    booktabs : bool
        Whether the rules are those of the package of that name; without it none is needed.
    """
    rules = _BOOKTABS if booktabs else _RULES
    return "\n".join(_latex(*sheet, rules) for sheet in _sheets(found))


def _sheets(found: Comparison) -> list[Sheet]:
    rows = [_run_row(*row) for row in zip(found.runs, found.standings(), strict=True)]
    run_heads: tuple[str, ...] = _RUN_HEADS
    if any(run.weight for run in found.runs):
        run_heads = (*_RUN_HEADS, "Weighted by")
        rows = [(*row, run.weight) for row, run in zip(rows, found.runs, strict=True)]
    sheets: list[Sheet] = [(run_heads, rows)]
    if found.pairs:
        correction = found.pairs[0].correction
        p_heads = (f"{CORRECTION_NAMES[correction]}-corrected p",) * (correction != UNCORRECTED)
        heads = ("A", "B", "A - B", "Low", "High", "p", *p_heads, "Note")
        sheets.append((heads, [_pair_row(pair) for pair in found.pairs]))
    return sheets


def _run_row(run: RunFigures, standing: WinCount) -> tuple[Cell, ...]:
    areas = [x for s in (run.auc, run.pauc) for x in (s.value, s.low, s.high)]
    against = (standing.wins, standing.ties, standing.losses, standing.mean_rank)
    range_ = "" if run.trained_for is None else "{:g} to {:g}".format(*run.trained_for)
    return (run.name, *areas, run.train_auc, *against, run.fit_seconds, run.splits, range_)


def _pair_row(pair: PairComparison) -> tuple[Cell, ...]:
    p = (pair.p,) if pair.correction == UNCORRECTED else (pair.p, pair.p_corrected)
    return (pair.a, pair.b, pair.difference, pair.low, pair.high, *p, pair.refused or pair.reason)


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


def _latex(
    heads: Sequence[str], rows: Sequence[Sequence[Cell]], rules: tuple[str, str, str]
) -> str:
    columns = "".join("r" if numeric else "l" for numeric in _numeric(rows[0]))
    lines = [heads, *([_latex_cell(cell) for cell in row] for row in rows)]
    head, *body = (f"{' & '.join(line)} \\\\" for line in lines)
    begin = f"\\begin{{tabular}}{{{columns}}}"
    top, middle, bottom = rules
    parts = [begin, top, head, middle, *body, bottom, "\\end{tabular}", ""]
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
