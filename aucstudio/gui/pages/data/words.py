"""Texts of the page Data."""

from __future__ import annotations

import math

from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.data.row_query import FoundRows
from aucstudio.notices.words import (
    class_words,
    counted,
    figure_words,
    interval_words,
    percent_words,
)
from aucstudio.project.survey.columns import SPEARMAN, ColumnSummary, Correlation, GapMap
from aucstudio.project.survey.rows import (
    ALL,
    CHOSEN,
    FALSE_ALARM,
    HELD,
    MISRANKED,
    MISSED,
    TRAINED_ON,
)

_PARTS = {
    HELD: "held out in {0}",
    TRAINED_ON: "trained on in {0}",
    MISRANKED: "held out in {0}, and ranked wrongly against at least one row of the other class",
    FALSE_ALARM: "negatives of {0} above its threshold",
    MISSED: "positives of {0} not above its threshold",
    CHOSEN: "chosen on another page",
}


def rows_sentence(found: FoundRows) -> Statement:
    """State which rows are shown."""
    asked, row_filter = found.asked, found.asked.row_filter
    shown, total = len(found.rows), asked.table.rows
    if shown == total:
        head = f"All {counted(total, 'row')}"
    elif not shown:
        head = f"None of {counted(total, 'row')} matches"
    else:
        head = f"{shown:,} of {counted(total, 'row')}"
    if found.counts is not None and found.classes is not None and shown:
        names = map(class_words, found.classes.names)
        head += ": " + " and ".join(
            f"{count:,} {name}" for count, name in zip(found.counts, names, strict=True)
        )
    parts = []
    if row_filter.part != ALL:
        record, name, split = asked.runs[0] if asked.has_chosen else (None, "", 0)
        several = record is not None and len(record.splits) > 1
        of_run = f"split {split + 1} of {name}" if several else name
        parts.append(f"These rows are {_PARTS[row_filter.part].format(of_run)}.")
    if row_filter.order is not None:
        how = "downwards" if row_filter.descending else "upwards"
        parts.append(f"Sorted by {row_filter.order}, {how}; rows without a value come last.")
    if asked.has_chosen or asked.runs:
        parts.append("Scores in grey are of rows that were trained on.")
    return Statement.of(f"{head}.", *parts)


def area_sentence(summary: ColumnSummary) -> Statement:
    """State the AUC of a column as a score."""
    if summary.area is None:
        if summary.class_names:
            return Statement("One of the classes has no value here: there is no AUC.")
        return Statement()
    area, (first, second) = summary.area, map(class_words, summary.class_names)
    value = figure_words(area.value)
    limits = "" if math.isnan(area.low) else f" (95 % {interval_words(area.low, area.high)})"
    if summary.by_share:
        return Statement.of(
            f"Alone it ranks {first} above {second} with AUC {value}{limits}.",
            f"Its values are in the order of their share of {first} in the other half of the rows.",
        )
    side = "High" if area.value >= 0.5 else "Low"
    return Statement.of(
        f"Alone it ranks {first} above {second} with AUC {value}{limits}.",
        f"{side} values indicate {first}." if area.low > 0.5 or area.high < 0.5 else "",
    )


def column_sentence(summary: ColumnSummary) -> Statement:
    """State the result of a column."""
    text = area_sentence(summary)
    if not text.headline:
        return Statement(f"{summary.name}: {counted(summary.distinct, 'different value')}.")
    return Statement(f"{summary.name}: {text.headline}", text.more)


def spread_words(summary: ColumnSummary) -> str:
    """State what the picture of a distribution omits."""
    found = summary.distribution
    if not found.shares.size:
        return "No row has a value."
    outside = [
        f"{counted(count, 'value')} {side}"
        for count, side in ((found.below, "below"), (found.above, "above"))
        if count
    ]
    return f"Not drawn, far from the others: {' and '.join(outside)}." if outside else ""


def gaps_sentence(found: GapMap, rows: int, left_out: int) -> Statement:
    """State where cells are missing."""
    if not found.columns:
        return Statement("No column has a missing value.")
    lines = len(found.starts) - 1
    shares = found.missing.mean(axis=0) if lines else found.missing.sum(axis=0)
    worst = int(shares.argmax())
    many = counted(len(found.columns) + left_out, "column")
    has = "has" if many.startswith("1 ") else "have"
    return Statement.of(
        f"{many} {has} missing values, most of them {found.columns[worst]} "
        f"({percent_words(float(shares[worst]))}).",
        f"{found.rows:,} of {counted(rows, 'row')} lack a value in at least one of them.",
        "Rows in the order of the sheet; the strip at the left shows their class."
        + (
            f" Each line represents about {round(rows / lines):,} rows."
            if lines and rows > lines
            else ""
        ),
        f"The {left_out:,} columns with fewest missing values are not drawn." if left_out else "",
    )


def correlation_sentence(
    found: Correlation, kind: str, rows: int, left_out: int, pair: tuple[int, int] | None
) -> Statement:
    """State which columns are correlated."""
    name = "Spearman" if kind == SPEARMAN else "Pearson"
    if len(found.columns) < 2:
        return Statement("Fewer than two columns of numbers: nothing to correlate.")
    values = abs(found.values.copy())
    values[range(len(values)), range(len(values))] = math.nan
    if pair is None:
        if not (values == values).any():
            return Statement("No two columns have enough rows in common.")
        values[values != values] = -1.0
        pair = (int(values.max(axis=1).argmax()), int(values[values.max(axis=1).argmax()].argmax()))
        head = f"{pair_words(found, *pair)}: the strongest correlation."
    else:
        head = f"{pair_words(found, *pair)}."
    return Statement.of(
        head,
        f"{name}'s coefficient, over the rows that have both values.",
        f"Computed from {found.looked_at:,} of {rows:,} rows, evenly spaced."
        if found.looked_at < rows
        else "",
        f"Of {len(found.columns) + left_out:,} columns of numbers, those whose AUC is farthest "
        "from 0.5 are drawn."
        if left_out
        else "",
    )


def pair_words(found: Correlation, one: int, other: int) -> str:
    """Describe the correlation of two columns."""
    value = found.values[one, other]
    names = f"{found.columns[one]} and {found.columns[other]}"
    if one == other:
        return found.columns[one]
    if math.isnan(value):
        return f"{names}: no coefficient"
    return f"{names}: {value:+.2f} over {counted(int(found.rows[one, other]), 'row')}".replace(
        "-", "−"
    )
