"""The program of an exported model, without one.

Export puts a model's document in the place of the empty one at the end.
"""

from __future__ import annotations

import argparse
import base64
import csv
import datetime
import io
import json
import math
import os
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Container
from typing import IO, Any

import numpy as np

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# More digits than a double holds: a code, not a number.
CODE = re.compile(r"\s*[0-9]{16,}\s*")
BEYOND = re.compile("([<>\u2264\u2265])=?[ \u00a0]*([^<>\u2264\u2265=].*)")
BLANKS = " \t\n\v\f\r\u00a0\u200b\ufeff"
MISSING, RARE = "(missing)", "(rare)"


def score(columns: dict[str, list[Any]], decimal: str | None = None) -> np.ndarray:
    """Return the raw score of each row, given as columns.

    Parameters
    ----------
    columns : dict of str to list
        The cells of each column: numbers, or text as in a CSV file; None or NaN is missing.
    decimal : {".", ","}, optional
        The decimal mark of numbers that are text; that of the training table if not given.

    Raises
    ------
    ValueError
        If a column is missing, or most cells of a column should be numbers and are none.
    """
    X = prepare(columns, decimal or MODEL["table"]["decimal"])
    scores = np.empty(len(X))
    for start in range(0, len(X), 65_536):
        rows = slice(start, start + 65_536)
        scores[rows] = rank(X[rows], MODEL["scorer"])
    return scores + MODEL["intercept"]


def predict(scores: np.ndarray) -> np.ndarray:
    """Return the predicted class of each raw score."""
    return np.where(scores > MODEL["threshold"], MODEL["positive"], MODEL["negative"])


def probability(scores: np.ndarray) -> np.ndarray:
    """Return the probability of each raw score: the greater, the greater the score."""
    made = MODEL["calibration"]
    with np.errstate(over="ignore"):
        u = np.clip((scores - made["centre"]) / made["scale"], -1e100, 1e100)
    v = np.sign(u) * np.log1p(np.abs(u))
    if made["form"] == "steps":
        share = np.interp(u, made["knots"], made["values"])
    else:
        z = made["slope"] * u + made["offset"]
        logs = made["high"] * np.logaddexp(0, z) - made["low"] * np.logaddexp(0, -z)
        share = np.exp(-np.logaddexp(0, -(made["shift"] + logs)))
    return (1 - made["tilt"]) * share + made["tilt"] * (1 + v / (1 + np.abs(v))) / 2


def read_dates_as(layout: str) -> None:
    """Read dates in another layout than that of training, such as d.m.y or birthday=m/d/y.

    Without a column, it is the layout of all of them. Dates such as 2023-01-31 are always read.

    Raises
    ------
    ValueError
        If there is no such layout, or no such column of dates.
    """
    column, _, name = layout.rpartition("=")
    layouts, names = MODEL.get("layouts", {}), dated()
    chosen = [column] if column else names
    if name not in layouts or not chosen or not {*chosen} <= {*names}:
        raise ValueError(
            f"--date takes a layout, such as d.m.y, or COLUMN=LAYOUT; it is {layout!r}. Layouts: "
            f"{', '.join(layouts) or 'none'}. Columns of dates: {', '.join(names) or 'none'}"
        )
    way = {"ways": [layouts["y-m-d"], layouts[name]]}
    MODEL["preparation"]["reading"] |= dict.fromkeys(chosen, way)


# ------------------------------------------------------------------ preparation


def prepare(columns: dict[str, list[Any]], decimal: str) -> np.ndarray:
    """Fill missing values, standardise numbers, and make a column of 0 and 1 for each level."""
    absent = [name for name in wanted() if name not in columns]
    if absent:
        raise ValueError(
            f"the model needs columns that are missing: {', '.join(absent)}; "
            "use --allow-unknown COLUMN to score the table without a column"
        )
    sizes = {len(columns[name]) for name in wanted()}
    if len(sizes) != 1:
        raise ValueError("all columns must have the same number of cells")
    learnt = MODEL["preparation"]
    X: list[np.ndarray] = []
    marks: dict[str, np.ndarray] = {}
    for number in learnt["numbers"]:
        cells = cells_of(number, columns, decimal)
        marks.setdefault(source(number), np.isnan(cells))
        if not learnt["keep_gaps"]:
            cells[np.isnan(cells)] = number["median"]
        X.append(scaled(number, cells))
    for category in learnt["categories"]:
        levels = category["levels"]
        known = {text: first for first, *others in category.get("same", []) for text in others}
        texts = [known.get(text, text) for text in spell(columns[category["name"]], decimal)]
        if "others" in category:
            report_unseen(category["name"], texts, {*levels, *category["others"]})
        if category.get("rest"):
            texts = [text if text in levels else RARE for text in texts]
        spelled = np.array(texts, dtype=np.str_)
        X += [spelled == level for level in levels]
    X += [marks[name] for name in learnt["indicated"]]
    return np.stack(X, axis=1).astype(np.float64)


UNSEEN: list[str] = []  # what the command line reports


def report_unseen(name: str, texts: list[str], known: Container[str]) -> None:
    """Count the rows whose level of a column training did not have."""
    unseen = [text for text in texts if text not in known and text != MISSING]
    if unseen:
        levels = [repr(level) for level in dict.fromkeys(unseen)]
        shown = ", ".join(levels[:SAID]) + (", …" if len(levels) > SAID else "")
        rows = "1 row has a level" if len(unseen) == 1 else f"{len(unseen)} rows have levels"
        UNSEEN.append(f"column {name}: {rows} that training did not have ({shown})")


def wanted() -> list[str]:
    """Name the columns that the model needs."""
    learnt = MODEL["preparation"]
    categories = [category["name"] for category in learnt["categories"]]
    return list(dict.fromkeys([*map(source, learnt["numbers"]), *categories]))


def source(number: dict[str, Any]) -> str:
    """Name the column of a number, which may be a part of a date."""
    name: str = number.get("part", {}).get("column", number["name"])
    return name


def cells_of(number: dict[str, Any], columns: dict[str, list[Any]], decimal: str) -> np.ndarray:
    """Return the cells of a number; NaN where they are missing or beyond its limits."""
    name = source(number)
    if "shares" in number:
        texts = spell(columns[name], decimal)
        report_unseen(name, texts, number["shares"])
        shares = [number["shares"].get(text, 0.0) for text in texts]
        cells = np.array(shares, dtype=np.float64)
    else:
        cells = read_numbers(name, columns[name], decimal)
    cells[np.isin(cells, number.get("missing", ()))] = math.nan
    if "part" in number:
        cells = take_part(cells, number["part"]["part"], number["part"].get("clock", False))
    cells[(cells < number["low"]) | (cells > number["high"])] = math.nan
    return cells


def scaled(number: dict[str, Any], cells: np.ndarray) -> np.ndarray:
    """Standardise cells, or go along the straight lines between knots."""
    if "knots" not in number:
        unit = number["unit"]
        return (cells / unit - number["mean"] / unit) / (number["scale"] / unit)
    knots, heights = np.array(number["knots"]), np.array(number["heights"])
    # In halves, for large numbers.
    halves, inside = knots / 2, np.clip(cells, knots[0], knots[-1])
    piece = np.clip(np.searchsorted(knots, inside, "right") - 1, 0, len(knots) - 2)
    width = np.diff(halves)
    width[width <= 0] = 1.0
    along = (inside / 2 - halves[piece]) / width[piece]
    ranks: np.ndarray = heights[piece] + along * np.diff(heights)[piece]
    return ranks


# ------------------------------------------------------------------ cells


def read_numbers(name: str, cells: list[Any], decimal: str) -> np.ndarray:
    """Read the cells of a column, with a warning about those that are no numbers: they are missing.

    It is an error if most of them are none.
    """
    values = [read_cell(name, cell, decimal) for cell in cells]
    unread = [row for row, value in enumerate(values, 1) if value is None]
    if unread:
        expected = f"a number with the decimal mark {decimal!r}"
        if name in MODEL["preparation"].get("reading", ()):
            expected = "written as this column was when the model was trained"
            expected += date_hint(name, [str(cells[row - 1]) for row in unread[:1000]])
        if not re.search(r"\d", str(cells[unread[0] - 1])):
            expected = "a number or a date"
        first = f"column {name}, row {unread[0]}: {cells[unread[0] - 1]!r} is not {expected}"
        if len(unread) > sum(value is not None and not math.isnan(value) for value in values):
            raise ValueError(first)
        count = "this cell counts" if len(unread) == 1 else f"{len(unread)} such cells count"
        warnings.warn(f"{first}; {count} as missing", stacklevel=2)
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def dated() -> list[str]:
    """Name the columns of dates, without those of times and durations."""
    readings = MODEL["preparation"].get("reading", {}).items()
    return [name for name, way in readings if any("?P<y>" in one for one in way.get("ways", ()))]


def date_hint(name: str, cells: list[str]) -> str:
    """Return the options that would read most cells of a column of dates; "" if there are none."""
    layouts = MODEL["layouts"] if name in dated() else {}
    texts = [cell.strip(BLANKS) for cell in cells]
    counts = {
        layout: sum(read_date(text, [way]) is not None for text in texts)
        for layout, way in layouts.items()
        if way not in MODEL["preparation"]["reading"][name]["ways"]
    }
    options = [
        f'--date "{name}={layout}"'
        for layout, count in counts.items()
        if count == max(counts.values()) > 0
    ]
    return f" (try {' or '.join(options)})" if options else ""


def read_cell(name: str, cell: Any, decimal: str) -> float | None:
    """Read a cell of a column: as :func:`read_number`, or in the way that is given for it."""
    way = MODEL["preparation"].get("reading", {}).get(name)
    if way is None or not isinstance(cell, str):
        return read_number(cell, decimal)
    text = cell.strip(BLANKS)
    if text.lower() in MODEL["preparation"]["gaps"]["number"]:
        return math.nan
    return read_date(text, **way) if "ways" in way else read_written(text, **way)


def read_number(cell: Any, decimal: str) -> float | None:
    """Read a cell: NaN where it is missing, None where it is no finite number."""
    if isinstance(cell, str):
        text = cell.strip(BLANKS)
        if text.lower() in MODEL["preparation"]["gaps"]["number"]:
            return math.nan
        if decimal != "." and "." in text:
            return None
        text = text.replace(decimal, ".")
        if not NUMBER.fullmatch(text):
            return None
        cell = float(text)
    value = math.nan if cell is None else float(cell)
    return None if math.isinf(value) else value


def spell(cells: list[Any], decimal: str) -> list[str]:
    """Return cells as levels; if all of them are numbers, 1.0 and 01 are the level 1."""
    values = (read_number(cell, decimal) for cell in cells)
    numbers = [value for value in values if value is not None]
    has_codes = any(isinstance(cell, str) and CODE.fullmatch(cell) for cell in cells)
    if has_codes or len(numbers) < len(cells):
        return [spell_text(cell) for cell in cells]
    return [MISSING if math.isnan(value) else f"{value:.15g}" for value in numbers]


def spell_text(cell: Any) -> str:
    if not isinstance(cell, str):
        return MISSING if cell is None or cell != cell else f"{cell:.15g}"
    text = cell.strip(BLANKS)
    return MISSING if text.lower() in MODEL["preparation"]["gaps"]["text"] else text


def read_written(
    text: str, pattern: str, decimal: str, marks: str, limits: str = ""
) -> float | None:
    """Read a number with marks between thousands, a unit or a minus in whatever place.

    A value beyond a limit, such as <1.8, is the limit, or half of it below a limit.
    """
    beyond = BEYOND.fullmatch(text) if limits else None
    if beyond is not None:
        limit = read_written(beyond[2], pattern, decimal, marks)
        is_half = limits == "half" and beyond[1] in "<\u2264"
        return limit if limit is None or not is_half else 0.5 * limit
    digits = str.maketrans(*MODEL["preparation"]["digits"])
    found = re.fullmatch(pattern, text.translate(digits))
    if found is None:
        return None
    bare = re.sub(f"[{marks}]", "", found["number"]).replace(decimal, ".")
    value = float(re.sub("[dD]", "e", bare.replace("\u2212", "-")))
    is_negative = not {"(", "-", "\u2212", "\u2013"}.isdisjoint(found.groups())
    return None if math.isinf(value) else -value if is_negative else value


def read_date(text: str, ways: list[str]) -> float | None:
    """Read a date as days since 1970-01-01 in UTC, or a time or duration as hours.

    Of the ways to write it, patterns with a group for each part, the first counts.
    """
    text = text.lower()
    found = next(filter(None, (re.fullmatch(way, text) for way in ways)), None)
    if found is None:
        return None
    part = found.groupdict("")
    hours, zone = int(part.get("H") or 0), part.get("z", "").replace(":", "")
    hours += 24 * int(part.get("D") or 0)
    if part.get("p"):
        hours = hours % 12 + 12 * (part["p"] == "p")
    whole = hours * 3600 + int(part.get("M") or 0) * 60
    if zone:
        offset = int(zone[1:3]) * 3600 + int(zone[3:] or 0) * 60
        whole += offset if zone[0] == "-" else -offset
    seconds = whole + float(part.get("S", "").replace(",", ".") or 0)
    if "y" not in part:
        return seconds / 3600
    year = int(part["y"])
    if len(part["y"]) < 3:
        year += 1900 if year >= 70 else 2000
    named = (k for k, names in enumerate(MONTHS, 1) if part.get("b") in names.split())
    month = next(named) if "b" in part else int(part.get("m", 1))
    try:
        day = datetime.date(year, month, int(part.get("d", 1)))
        if "w" in part:
            day = datetime.date.fromisocalendar(year, int(part["w"]), 1)
    except ValueError:
        return None
    return ((day - datetime.date(1970, 1, 1)).days * 86400 + seconds) / 86400


# As several languages write and shorten them, and the quarter that begins.
MONTHS = (
    "jan january januar januari janvier janv janeiro enero ene gennaio gen jänner января янв q1 1q",
    "feb february februar februari février févr fév febrero febbraio fevereiro fev февраля фев",
    "mar march märz mär mrz mars maart mrt marzo março marts марта мар",
    "apr april avril avr abril abr aprile апреля апр q2 2q",
    "may mai mei mayo maggio mag maio maj мая",
    "jun june juni juin junio giugno giu junho июня июн",
    "jul july juli juillet juil julio luglio lug julho июля июл q3 3q",
    "aug august août augustus agosto ago augusti августа авг",
    "sep sept september septembre septiembre settembre set setembro сентября сен",
    "oct october oktober okt octobre octubre ottobre ott outubro out октября окт q4 4q",
    "nov november novembre noviembre novembro ноября ноя",
    "dec december dezember dez desember des décembre déc diciembre dic dicembre dezembro "
    "декабря дек",
)


def take_part(cells: np.ndarray, part: str, clock: bool) -> np.ndarray:
    """Take a part of days since 1970-01-01, or of hours of a day; NaN where there is none."""
    key, _, turn = part.partition(" ")
    known = np.abs(cells) < 3_000_000
    ticks = np.rint(np.where(known, cells, 0.0) * (3_600_000 if clock else 86_400_000))
    ticks = ticks.astype(np.int64)
    day, hour, minute = ticks // 86_400_000, ticks // 3_600_000 % 24, ticks // 60_000 % 60
    weekday = (day + 3) % 7 + 1
    if key == "week":  # that of its Thursday
        day = day - weekday + 4
    date = day.astype("datetime64[D]")
    months = date.astype("datetime64[M]").astype(np.int64)
    starts = (date.astype(f"datetime64[{unit}]").astype("datetime64[D]") for unit in "MY")
    of_month, of_year = (day - start.astype(np.int64) for start in starts)
    found = {
        "year": months // 12 + 1970,
        "quarter": months % 12 // 3 + 1,
        "month": months % 12 + 1,
        "week": of_year // 7 + 1,
        "day": of_month + 1,
        "yearday": of_year + 1,
        "weekday": weekday,
        "weekend": weekday > 5,
        "hour": hour,
        "minute": minute,
        "daytime": hour // 6,
    }[key]
    if turn:
        first, steps = {"month": (1, 12), "weekday": (1, 7), "hour": (0, 24)}[key]
        turns = 2 * np.pi * np.arange(steps) / steps
        # Twelve decimals are the same on every processor.
        found = np.round(np.sin(turns) if turn == "sine" else np.cos(turns), 12)[found - first]
    return np.where(known, found, np.nan)


# ------------------------------------------------------------------ scorers


def rank(X: np.ndarray, scorer: dict[str, Any]) -> np.ndarray:
    """Return the scores of prepared rows by a scorer, whose lists of numbers become arrays."""
    given = {
        name: np.array(value) if isinstance(value, list) and name != "parts" else value
        for name, value in scorer.items()
        if name not in ("kind", "members")
    }
    scores: np.ndarray = SCORERS[scorer["kind"]](X, **given)
    return scores


def linear(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return <weights, x>."""
    scores: np.ndarray = X @ weights
    return scores


def kernel(
    X: np.ndarray, kernel: dict[str, Any], points: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Add up weights_l k(points_l, x)."""
    scores = np.zeros(len(X))
    if not len(points):
        return scores
    kind, gamma = kernel["kind"], kernel["gamma"]
    # Distances are taken about a point of the data, where they keep their digits.
    centre = points.mean(axis=0) if kind == "rbf" else np.zeros(X.shape[1])
    Z = np.ascontiguousarray((points - centre).T)
    for start in range(0, len(X), 512):
        rows = X[start : start + 512] - centre
        K = rows @ Z
        if kind == "rbf":
            a, b = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->j", Z, Z)
            K = np.exp(-gamma * np.maximum(-2.0 * K + b + a[:, None], 0.0))
        elif kind == "poly":
            K = np.power(gamma * K + kernel["coef0"], kernel["degree"])
        scores[start : start + 512] = K @ weights
    return scores


def fourier(
    X: np.ndarray, frequencies: np.ndarray, phases: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Add up weights_l cos(frequencies_l . x + phases_l)."""
    scores = np.empty(len(X))
    for start in range(0, len(X), 512):
        angles = X[start : start + 512] @ frequencies.T + phases
        scores[start : start + 512] = np.cos(angles) @ weights
    return scores


def trees(
    X: np.ndarray,
    roots: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    value: np.ndarray,
    gaps_left: np.ndarray,
    base: float,
) -> np.ndarray:
    """Add up the values of the leaves that a row comes to; a leaf leads to itself."""
    scores = np.full(len(X), base)
    rows = np.arange(len(X))
    for root in roots:
        node, following = np.full(len(X), -1), np.full(len(X), root)
        while not np.array_equal(node, following):
            node = following
            cells = X[rows, feature[node]]
            goes_left = (cells <= threshold[node]) | (np.isnan(cells) & gaps_left[node])
            following = np.where(goes_left, left[node], right[node])
        scores += value[node]
    return scores


def additive(
    X: np.ndarray,
    feature: np.ndarray,
    n_breaks: np.ndarray,
    breaks: np.ndarray,
    origins: np.ndarray,
    coefficients: np.ndarray,
) -> np.ndarray:
    """Add up a function of each feature that is cubic between breaks; a missing value adds 0."""
    scores = np.zeros(len(X))
    first = 0
    for c, k in enumerate(feature):
        known = np.flatnonzero(~np.isnan(X[:, k]))
        cells = X[known, k]
        piece = np.searchsorted(breaks[first : first + n_breaks[c]], cells) + first + c
        t, a = cells - origins[piece], coefficients[piece]
        scores[known] += ((a[:, 3] * t + a[:, 2]) * t + a[:, 1]) * t + a[:, 0]
        first += n_breaks[c]
    return scores


def combination(
    X: np.ndarray,
    parts: list[dict[str, Any]],
    factors: np.ndarray,
    smoothings: np.ndarray,
    base: float,
) -> np.ndarray:
    """Add up factor times the score of each part, or times its log-odds where it is smoothed."""
    scores = np.full(len(X), base)
    for part, factor, smoothing in zip(parts, factors, smoothings, strict=True):
        found = rank(X, part)
        if smoothing:
            found = np.log((found + smoothing) / (1.0 - found + smoothing))
        scores += factor * found
    return scores


def viewed(
    X: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    shifts: np.ndarray,
    fills: np.ndarray,
    inner: dict[str, Any],
) -> np.ndarray:
    """Score some of the columns, on other scales, with other values where they are missing."""
    seen = X[:, columns]
    if (factors != 1.0).any() or (shifts != 0.0).any():
        seen = seen * factors + shifts
    return rank(np.where(np.isnan(seen), fills, seen), inner)


SCORERS: dict[str, Callable[..., np.ndarray]] = {
    "linear": linear,
    "kernel": kernel,
    "fourier": fourier,
    "trees": trees,
    "additive": additive,
    "combination": combination,
    "viewed": viewed,
}


# ------------------------------------------------------------------ command line


def main() -> int:
    parser = argparse.ArgumentParser(description="Score the rows of a CSV file.")
    parser.add_argument("table", help="a CSV file with a header row")
    parser.add_argument("-o", "--output", metavar="SCORES.csv", help="write the scores here")
    tried = " or ".join(encodings())
    parser.add_argument("--encoding", help=f"of the file; {tried} if not given")
    parser.add_argument("--delimiter", help="what separates cells; found if not given")
    parser.add_argument(
        "--decimal",
        choices=".,",
        default=MODEL["table"]["decimal"],
        help="the decimal mark; %(default)s if not given",
    )
    for name, value, about in (
        ("date", "LAYOUT", "how dates are written: d.m.y, or birthday=m/d/y; else as in training"),
        ("keep", "COLUMN", "write this column beside the scores, instead of the identifiers"),
        ("allow-unknown", "COLUMN", "take this column as missing in all rows if it is absent"),
    ):
        parser.add_argument(f"--{name}", action="append", default=[], metavar=value, help=about)
    parser.add_argument(
        "--strict", action="store_true", help="end with an error at a cell that is not a number"
    )
    options = parser.parse_args()
    try:
        output = None if options.output == "-" else options.output
        if output and os.path.exists(output) and os.path.samefile(output, options.table):
            raise ValueError("the scores would replace this table: give another name to -o")
        for layout in options.date:
            read_dates_as(layout)
        columns = read_table(options.table, options.delimiter, options.encoding)
        for name in options.allow_unknown:
            if name not in wanted():
                raise ValueError(f"the model has no column {name!r}")
            columns.setdefault(name, [""] * len(next(iter(columns.values()), ())))
        if absent := [name for name in options.keep if name not in columns]:
            raise ValueError(f"it has no column {absent[0]!r} to keep")
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("error" if options.strict else "always", UserWarning)
            scores = score(columns, options.decimal)
        for message in dict.fromkeys([*(str(one.message) for one in found), *UNSEEN]):
            sys.stderr.write(f"{options.table}: {message}\n")
        named = [name for name in MODEL["identifiers"] if name in columns]
        kept = {name: columns[name] for name in options.keep or named}
        if output is None:
            write_scores(sys.stdout, scores, kept)
        else:
            with open(output, "w", encoding="utf-8", newline="") as file:
                write_scores(file, scores, kept)
    except (ValueError, OSError, TypeError, UserWarning, csv.Error) as error:
        sys.stderr.write(f"{options.table}: {error}\n")
        return 2
    return 0


def read_table(
    path: str, delimiter: str | None = None, encoding: str | None = None
) -> dict[str, list[str]]:
    """Read the columns of a file; rows that are too long or too short are left out, and said."""
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"--delimiter takes one character; it is {delimiter!r}")
    with open(path, "rb") as binary:
        file = io.StringIO(decode(binary.read(), encoding), newline="")
    delimiter, before = find_header(file, delimiter or MODEL["table"]["delimiter"] + ",;\t|")
    reader = csv.reader(file, delimiter=delimiter)
    for _ in range(before):
        next(reader)
    names = names_of(next(reader, []))
    rows, left_out = [], []
    for cells in reader:
        if len(cells) == len(names):
            rows.append(cells)
        elif cells:
            left_out.append((reader.line_num, len(cells)))
    while rows and is_total(rows[-1]):
        rows.pop()
        sys.stderr.write(f"{path}: the last row is left out: a row of totals\n")
    for line, count in left_out[:SAID]:
        sys.stderr.write(
            f"{path}, line {line} is left out: it has {count} cells, the header {len(names)}\n"
        )
    if len(left_out) > SAID:
        sys.stderr.write(f"{path}: so are {len(left_out) - SAID} more lines\n")
    if len(left_out) > len(rows):
        raise ValueError("most rows do not have as many cells as the header: try --delimiter")
    # Of columns with the same name the first counts.
    return {name: [row[k] for row in rows] for k, name in reversed(list(enumerate(names)))}


def is_total(cells: list[str]) -> bool:
    """Return whether a row has gaps and begins like one of totals, which the training table had."""
    filled = [cell.strip(BLANKS).lower() for cell in cells if cell.strip(BLANKS)]
    words = re.compile(MODEL.get("totals", "(?!)"))
    return 0 < len(filled) < len(cells) and bool(words.fullmatch(filled[0].rstrip(": ")))


SAID = 10  # lines or levels that are named one by one


def decode(content: bytes, encoding: str | None) -> str:
    """Decode a file: in the given encoding, else in UTF-8 or as the training table was."""
    names = [encoding] if encoding else encodings()
    for name in names:
        try:
            text = content.decode(name)
        except LookupError as error:
            raise ValueError(f"{error}: give another --encoding") from error
        except UnicodeDecodeError:
            continue
        # Text in UTF-16 may be valid UTF-8, with a null after each letter.
        if "\0" not in text or name == names[-1]:
            return text.removeprefix("\ufeff")
    raise ValueError(f"the file is not encoded in {' or '.join(names)}: give its --encoding")


def encodings() -> list[str]:
    """Return the encodings that a file is read in, in this order."""
    return list(dict.fromkeys(["utf-8", MODEL["table"]["encoding"]]))


def find_header(file: IO[str], delimiters: str) -> tuple[str, int]:
    """Find the delimiter and the line, among the first fifty, with most of the model's columns."""
    found = {}
    for delimiter in delimiters:
        file.seek(0)
        for place, cells in enumerate(csv.reader(file, delimiter=delimiter)):
            if place == 50:
                break
            count = len({*wanted()}.intersection(names_of(cells)))
            found.setdefault(count, (delimiter, place))
    file.seek(0)
    return found[max(found)] if found else (delimiters[0], 0)


def names_of(cells: list[str]) -> list[str]:
    names = [name.strip(BLANKS) for name in cells]
    return [name or (f"c{k}" if k > 1 else "row") for k, name in enumerate(names, 1)]


def write_scores(target: IO[str], scores: np.ndarray, kept: dict[str, list[str]]) -> None:
    writer = csv.writer(target, lineterminator="\n")
    given = {"probability": probability(scores).tolist()} if "calibration" in MODEL else {}
    names = [guarded(name) for name in kept]
    writer.writerow(["row", *names, "score", "threshold", "predicted", *given])
    threshold = float(MODEL["threshold"])
    predicted = [guarded(name) for name in predict(scores).tolist()]
    for row, value in enumerate(scores.tolist(), 1):
        found = [repr(column[row - 1]) for column in given.values()]
        beside = [guarded(cells[row - 1]) for cells in kept.values()]
        writer.writerow([row, *beside, repr(value), repr(threshold), predicted[row - 1], *found])


def guarded(text: str) -> str:
    """Write an apostrophe before text that a spreadsheet would run as a formula."""
    number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return f"'{text}" if re.match(r"[=+\-@\t\r\n]", text) and not number else text


def unpack(packed: str) -> Any:
    """Read a long document: base64 of zlib of JSON."""
    return json.loads(zlib.decompress(base64.b64decode(packed)))


# All that scores are computed from; the numbers of ``preparation`` are in the order of x.
MODEL: dict[str, Any] = json.loads("{}")

if __name__ == "__main__":
    sys.exit(main())
