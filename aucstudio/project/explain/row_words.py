"""What is said of a row that is explained."""

from __future__ import annotations

from collections.abc import Iterator

from aucstudio.project.explain.one_row import Moved, RowDetail
from aucstudio.project.explain.trees import plain_number

CSV_HEAD = ("column", "value", "usual", "contribution", "standard_error")
_NAMED = 3


def headline(detail: RowDetail, number: int, others: str) -> str:
    """Say how far the score of a row lies from the mean, and which columns moved it most."""
    gap = detail.score - detail.mean
    if gap == 0:
        return f"Row {number:,} scores {_signed(detail.score, plain=True)}, as {others} on average."
    side = "above" if gap > 0 else "below"
    most = [part for part in detail.parts if part.contribution * gap > 0][:_NAMED]
    first = (
        f"Row {number:,} scores {_signed(detail.score, plain=True)}, "
        f"{plain_number(abs(gap), 3)} {side} the mean score of {others}"
    )
    if not most:
        return f"{first}."
    return f"{first}: {', '.join(map(named, most))}."


def named(part: Moved) -> str:
    """Name a column with the row's cell and what it did."""
    return f"{part.column} = {part.cell} ({_signed(part.contribution)})"


def about(detail: RowDetail) -> Iterator[str]:
    """Say what else should be known: who speaks against, how exact it is, what is compared."""
    gap = detail.score - detail.mean
    against = [part for part in detail.parts if part.contribution * gap < 0][:_NAMED]
    if against:
        yield f"Against it: {', '.join(map(named, against))}."
    if detail.exact:
        yield "The contributions are exact for the rows compared with and add up to the difference."
    else:
        worst = max(part.error for part in detail.parts)
        ended = "" if detail.found.complete else ", stopped before the error was small"
        yield (
            "The contributions are Shapley values and add up to the difference; each is a mean "
            f"over {detail.draws:,} drawn pairs of orders{ended}, with a standard error of at most "
            f"{plain_number(worst, 2)}."
        )
    yield (
        "Each shows how the score changes when the row has its own cell in place of those of other "
        "rows, with the other columns unchanged (interventional). It describes the model, "
        "not causes; correlated columns share their effect."
    )
    if detail.by_weight:
        yield (
            f"Compared with {detail.background:,} draws from {detail.of_rows:,} rows, drawn "
            "in proportion to their weights."
        )
    elif detail.background < detail.of_rows:
        yield f"Compared with {detail.background:,} of {detail.of_rows:,} rows, taken evenly."


def tip(part: Moved, *, exact: bool) -> str:
    """Say all of one part."""
    error = "" if exact else f" (standard error {plain_number(part.error, 2)})"
    moved = f"moves the score by {_signed(part.contribution)}{error}"
    if not part.usual:
        return f"{part.column}\ntogether: {moved}"
    return f"{part.column} = {part.cell}\n{moved}\nin the rows compared with: {part.usual}"


def as_lines(detail: RowDetail) -> list[tuple[object, ...]]:
    """Give all parts with all digits, as CSV_HEAD names them."""
    return [
        (part.column, part.cell, part.usual, part.contribution, part.error) for part in detail.parts
    ]


def _signed(value: float, *, plain: bool = False) -> str:
    sign = "+" if value > 0 and not plain else ""
    return sign + plain_number(value, 3)


def as_table(detail: RowDetail, most: int) -> str:
    """Write the parts as aligned lines, the smallest merged."""
    head = ("column", "value", "moves the score by", "" if detail.exact else "standard error")
    lines = [head] + [
        (
            part.column,
            part.cell,
            _signed(part.contribution),
            "" if detail.exact else plain_number(part.error, 2),
        )
        for part in detail.shown(most)
    ]
    wide = [max(len(line[k]) for line in lines) for k in range(4)]
    return "\n".join(
        f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}  {d:>{wide[3]}}".rstrip()
        for a, b, c, d in lines
    )
