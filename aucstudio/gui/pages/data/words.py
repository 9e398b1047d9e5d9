"""What the page Data says about rows and columns."""

from __future__ import annotations

import math

from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.data.row_query import FoundRows
from aucstudio.notices import text
from aucstudio.notices.words import counted
from aucstudio.project.survey.columns import ColumnSummary
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
    HELD: "data_rows_held_out",
    TRAINED_ON: "data_rows_training",
    MISRANKED: "data_rows_misranked",
    FALSE_ALARM: "data_rows_false_positive",
    MISSED: "data_rows_missed_positive",
    CHOSEN: "data_rows_chosen",
}


def rows_sentence(found: FoundRows) -> Statement:
    """State which rows are shown."""
    asked, row_filter = found.asked, found.asked.row_filter
    shown, total, counts, classes = len(found.rows), asked.table.rows, found.counts, found.classes
    has_classes = counts is not None and classes is not None and shown > 0
    record, name, split = asked.runs[0] if asked.has_chosen else (None, "", 0)
    head = text(
        "data_rows",
        part="all" if shown == total else "some" if shown else "none",
        some=shown if 0 < shown < total else None,
        total=total,
        positives=counts[0] if counts is not None and has_classes else None,
        negatives=counts[1] if counts is not None else 0,
        positive="" if classes is None else classes.names[0],
        negative="" if classes is None else classes.names[1],
    )
    of_run = f"split {split + 1} of {name}" if record and len(record.splits) > 1 else name
    part, order = row_filter.part, row_filter.order
    way = "downwards" if row_filter.descending else "upwards"
    return Statement.of(
        head,
        "" if part == ALL else text(_PARTS[part], run=of_run),
        "" if order is None else text("data_rows_sorted", order=order, way=way),
        text("data_rows_scored") if asked.runs else "",
    )


def area_sentence(summary: ColumnSummary) -> Statement:
    """State the AUC of a column as a score."""
    area = summary.area
    if area is None:
        return Statement(text("data_no_area") if summary.class_names else "")
    positive, negative = summary.class_names
    interval = None if math.isnan(area.low) else (area.low, area.high)
    head = text(
        "data_area", positive=positive, negative=negative, area=area.value, interval=interval
    )
    if summary.by_share:
        return Statement(head, text("data_area_by_share", positive=positive))
    if area.low > 0.5 or area.high < 0.5:
        return Statement(head, text("data_area_side", high=area.value >= 0.5, positive=positive))
    return Statement(head)


def column_sentence(summary: ColumnSummary) -> Statement:
    """State the result of a column."""
    area = area_sentence(summary)
    if not area.headline:
        return Statement(text("data_column_distinct", name=summary.name, count=summary.distinct))
    return Statement(f"{summary.name}: {area.headline}", area.more)


def spread_words(summary: ColumnSummary) -> str:
    """State what the picture of a distribution omits."""
    found = summary.distribution
    if not found.shares.size:
        return text("data_no_value")
    ends = (found.below, "below"), (found.above, "above")
    outside = [f"{counted(count, 'value')} {side}" for count, side in ends if count]
    return text("data_not_drawn", outside=outside) if outside else ""
