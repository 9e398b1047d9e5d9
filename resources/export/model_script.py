"""The program of an exported model, without one.

Export copies the sections that a model needs and puts its numbers in the place of those here.
"""

from __future__ import annotations

import argparse
import base64
import csv
import datetime
import functools
import io
import math
import os
import re
import sys
import zlib
from collections.abc import Callable
from typing import IO, Any

import numpy as np

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# More digits than a double holds: a code, not a number.
CODE = re.compile(r"\s*[0-9]{16,}\s*")
BLANKS = " \t\n\v\f\r\u00a0\u200b\ufeff"


def score(columns: dict[str, list[Any]], decimal: str = ".") -> np.ndarray:
    """Return the raw score of each row, given as columns.

    Parameters
    ----------
    columns : dict of str to list
        The cells of each column: numbers, or text as in a CSV file; None or NaN is missing.
    decimal : {".", ","}
        The decimal mark of numbers that are text.

    Raises
    ------
    ValueError
        If a column is missing, or a cell should be a number and is none.
    """
    X = prepare(columns, decimal)
    scores = np.empty(len(X))
    for start in range(0, len(X), 65_536):
        rows = slice(start, start + 65_536)
        scores[rows] = rank(X[rows])
    return scores + INTERCEPT


def predict(scores: np.ndarray) -> np.ndarray:
    """Return the predicted class of each raw score."""
    return np.where(scores > THRESHOLD, POSITIVE, NEGATIVE)


def prepare(columns: dict[str, list[Any]], decimal: str) -> np.ndarray:
    """Fill missing values, standardise numbers, and make a column of 0 and 1 for each level."""
    absent = [name for name in wanted() if name not in columns]
    if absent:
        raise ValueError(f"the model needs columns that are missing: {', '.join(absent)}")
    sizes = {len(columns[name]) for name in wanted()}
    if len(sizes) != 1:
        raise ValueError("all columns must have the same number of cells")
    width = len(NUMBERS) + sum(map(len, CATEGORIES.values())) + len(INDICATED)
    X = np.empty((sizes.pop(), width))
    for k, (name, (median, mean, scale, unit, low, high)) in enumerate(NUMBERS.items()):
        column, take = PARTS.get(name, (name, None))
        if name in SHARES:
            shares = [SHARES[name].get(text, 0.0) for text in spell(columns[name], decimal)]
            cells = np.array(shares, dtype=np.float64)
        else:
            cells = read_numbers(column, columns[column], decimal)
        cells[np.isin(cells, ABSENT.get(column, ()))] = math.nan
        if take is not None:
            cells = take(cells)
        cells[(cells < low) | (cells > high)] = math.nan
        if column in INDICATED:
            X[:, width - len(INDICATED) + INDICATED.index(column)] = np.isnan(cells)
        if not KEEP_GAPS:
            cells[np.isnan(cells)] = median
        if name in KNOTS:
            X[:, k] = to_ranks(cells, *map(np.array, KNOTS[name]))
        else:
            X[:, k] = (cells / unit - mean / unit) / (scale / unit)
    place = len(NUMBERS)
    for name, levels in CATEGORIES.items():
        known = SPELLED.get(name, {})
        cells_as_text = spell(columns[name], decimal)
        spelled = [known.get(text, text) for text in cells_as_text]
        if name in REST:
            spelled = [text if text in levels else RARE for text in spelled]
        texts = np.array(spelled, dtype=np.str_)
        for level in levels:
            X[:, place] = texts == level
            place += 1
    return X


def wanted() -> list[str]:
    """Name the columns that the model needs."""
    numbers = (PARTS[name][0] if name in PARTS else name for name in NUMBERS)
    return list(dict.fromkeys([*numbers, *CATEGORIES]))


def to_ranks(cells: np.ndarray, knots: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Go along the straight lines between the knots; in halves, for large numbers."""
    halves, inside = knots / 2, np.clip(cells, knots[0], knots[-1])
    piece = np.clip(np.searchsorted(knots, inside, "right") - 1, 0, len(knots) - 2)
    width = np.diff(halves)
    width[width <= 0] = 1.0
    along = (inside / 2 - halves[piece]) / width[piece]
    ranks: np.ndarray = heights[piece] + along * np.diff(heights)[piece]
    return ranks


def read_numbers(name: str, cells: list[Any], decimal: str) -> np.ndarray:
    values = [read_cell(name, cell, decimal) for cell in cells]
    for row, value in enumerate(values, 1):
        if value is None:
            wanted = f"a number with the decimal mark {decimal!r}"
            if name in WRITTEN:
                wanted = "written as this column was when the model was trained"
            raise ValueError(f"column {name}, row {row}: {cells[row - 1]!r} is not {wanted}")
    return np.array(values, dtype=np.float64)


def read_cell(name: str, cell: Any, decimal: str) -> float | None:
    """Read a cell of a column: as :func:`read_number`, or in the way that is told for it."""
    if name not in WRITTEN or not isinstance(cell, str):
        return read_number(cell, decimal)
    text = cell.strip(BLANKS)
    return math.nan if text.lower() in NUMBER_GAPS else WRITTEN[name](text)


def read_number(cell: Any, decimal: str) -> float | None:
    """Read a cell: NaN where it is missing, None where it is no finite number."""
    if isinstance(cell, str):
        text = cell.strip(BLANKS)
        if text.lower() in NUMBER_GAPS:
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
    """Give cells as levels; if all of them are numbers, 1.0 and 01 are the level 1."""
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
    return MISSING if text.lower() in TEXT_GAPS else text


# section written
def read_written(text: str, pattern: str, decimal: str, marks: str) -> float | None:
    """Read a number with marks between thousands, a unit or a minus in whatever place."""
    found = re.fullmatch(pattern, text.translate(DIGITS))
    if found is None:
        return None
    bare = re.sub(f"[{marks}]", "", found["number"]).replace(decimal, ".")
    value = float(re.sub("[dD]", "e", bare.replace("\u2212", "-")))
    is_negative = not {"(", "-", "\u2212", "\u2013"}.isdisjoint(found.groups())
    return None if math.isinf(value) else -value if is_negative else value


# section dates
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


# section parts
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


# section linear
def linear(X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Give <weights, x>."""
    scores: np.ndarray = X @ weights
    return scores


# section kernel
def kernel(
    X: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    kind: str,
    gamma: float,
    degree: int,
    coef0: float,
) -> np.ndarray:
    """Add up weights_l k(points_l, x)."""
    # Distances are taken about a point of the data, where they keep their digits.
    centre = np.zeros(X.shape[1])
    if kind == "rbf" and len(points):
        centre = points.mean(axis=0)
    Z = np.ascontiguousarray((points - centre).T)
    scores = np.empty(len(X))
    for start in range(0, len(X), 512):
        rows = X[start : start + 512] - centre
        K = rows @ Z
        if kind == "rbf":
            a, b = np.einsum("ij,ij->i", rows, rows), np.einsum("ij,ij->j", Z, Z)
            K = np.exp(-gamma * np.maximum(-2.0 * K + b + a[:, None], 0.0))
        elif kind == "poly":
            K = np.power(gamma * K + coef0, degree)
        scores[start : start + 512] = K @ weights
    return scores


# section fourier
def fourier(
    X: np.ndarray, frequencies: np.ndarray, phases: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Add up weights_l cos(frequencies_l . x + phases_l)."""
    scores = np.empty(len(X))
    for start in range(0, len(X), 512):
        angles = X[start : start + 512] @ frequencies.T + phases
        scores[start : start + 512] = np.cos(angles) @ weights
    return scores


# section trees
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


# section additive
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


# section combination
def combination(X: np.ndarray, parts: list[tuple[Any, float, float]], base: float) -> np.ndarray:
    """Add up factor times the score of each part, or times its log-odds where it is smoothed."""
    scores = np.full(len(X), base)
    for part, factor, smoothing in parts:
        found = part(X)
        if smoothing:
            found = np.log((found + smoothing) / (1.0 - found + smoothing))
        scores += factor * found
    return scores


# section viewed
def viewed(
    X: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    shifts: np.ndarray,
    fills: np.ndarray,
    inner: Any,
) -> np.ndarray:
    """Score some of the columns, on other scales, with other values where they are missing."""
    seen = X[:, columns]
    if (factors != 1.0).any() or (shifts != 0.0).any():
        seen = seen * factors + shifts
    return inner(np.where(np.isnan(seen), fills, seen))


# section sigmoid
def sigmoid(
    u: np.ndarray, slope: float, offset: float, low: float, high: float, shift: float
) -> np.ndarray:
    """Give a logistic function of u with two slopes."""
    z = slope * u + offset
    eta = shift + high * np.logaddexp(0, z) - low * np.logaddexp(0, -z)
    return np.exp(-np.logaddexp(0, -eta))


# section steps
def steps(u: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Give what is linear between knots, and level beyond the outer ones."""
    return np.interp(u, knots, values)


# section calibration
def calibrated(
    scores: np.ndarray,
    centre: float,
    scale: float,
    tilt: float,
    form: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Give the probability of each score: the greater, the greater the score."""
    with np.errstate(over="ignore"):
        u = np.clip((scores - centre) / scale, -1e100, 1e100)
    v = np.sign(u) * np.log1p(np.abs(u))
    return (1 - tilt) * form(u) + tilt * (1 + v / (1 + np.abs(v))) / 2


# section command
def main() -> int:
    parser = argparse.ArgumentParser(description="Score the rows of a CSV file.")
    parser.add_argument("table", help="a CSV file with a header row")
    parser.add_argument("-o", "--output", metavar="SCORES.csv", help="write the scores here")
    parser.add_argument("--delimiter", help="what separates cells; found if not given")
    parser.add_argument("--decimal", choices=".,", default=".", help="the decimal mark")
    options = parser.parse_args()
    try:
        output = None if options.output == "-" else options.output
        if output and os.path.exists(output) and os.path.samefile(output, options.table):
            raise ValueError("the scores would replace this table: give another name to -o")
        scores = score(read_table(options.table, options.delimiter), options.decimal)
        if output is None:
            write_scores(sys.stdout, scores)
        else:
            with open(output, "w", encoding="utf-8", newline="") as file:
                write_scores(file, scores)
    except (ValueError, OSError, TypeError, csv.Error) as error:
        sys.stderr.write(f"{options.table}: {error}\n")
        return 2
    return 0


def read_table(path: str, delimiter: str | None = None) -> dict[str, list[str]]:
    """Read the columns of a file; rows that are too long or too short are left out, and said."""
    if delimiter is not None and len(delimiter) != 1:
        raise ValueError(f"--delimiter takes one character; it is {delimiter!r}")
    with open(path, encoding="utf-8-sig", newline="") as file:
        delimiter, before = find_header(file, delimiter or ",;\t|")
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


SAID = 10  # lines that are named one by one


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


def write_scores(target: IO[str], scores: np.ndarray) -> None:
    writer = csv.writer(target, lineterminator="\n")
    given = {} if probability is None else {"probability": probability(scores).tolist()}
    writer.writerow(["row", "score", "threshold", "predicted", *given])
    predicted = [guarded(name) for name in predict(scores).tolist()]
    for row, value in enumerate(scores.tolist(), 1):
        found = [repr(column[row - 1]) for column in given.values()]
        writer.writerow([row, repr(value), repr(THRESHOLD), predicted[row - 1], *found])


def guarded(text: str) -> str:
    """Write an apostrophe before text that a spreadsheet would run as a formula."""
    number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return f"'{text}" if re.match(r"[=+\-@\t\r\n]", text) and not number else text


# section packed
def unpack(text: str) -> np.ndarray:
    """Read an array that is packed: base64 of zlib of numpy's npy format."""
    data = zlib.decompress(base64.b64decode(text))
    array: np.ndarray = np.load(io.BytesIO(data), allow_pickle=False)
    return array


# section model
POSITIVE = "positive"
NEGATIVE = "negative"
INTERCEPT = 0.0
# The positive class is predicted above it.
THRESHOLD = 0.0
# Name: what replaces a missing value, then what is subtracted, then what it is divided by; the
# unit to compute in; the limits beyond which a number counts as missing.
NUMBERS: dict[str, tuple[float, float, float, float, float, float]] = {}
ABSENT: dict[str, tuple[float, ...]] = {}
# Name: where numbers become ranks, knots and their heights.
KNOTS: dict[str, tuple[list[float], list[float]]] = {}
# Name: what each text counts as, in a column of texts that becomes a number.
SHARES: dict[str, dict[str, float]] = {}
# Name: how its numbers or dates are written, where that is not as Python writes numbers.
WRITTEN: dict[str, Callable[[str], float | None]] = {}
# Name: the column of dates that it is a part of, and what takes it.
PARTS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {}
# Digits of other scripts, and what may follow a number without being part of it.
DIGITS: dict[int, int] = {}
NOTE = ""
# Columns with one more that marks their missing values.
INDICATED: tuple[str, ...] = ()
# Columns in which every other text counts as RARE.
REST: tuple[str, ...] = ()
RARE = "(rare)"
KEEP_GAPS = False
# Name: its levels; any other text is none of them.
CATEGORIES: dict[str, tuple[str, ...]] = {}
SPELLED: dict[str, dict[str, str]] = {}
MISSING = "(missing)"
TEXT_GAPS = {""}
NUMBER_GAPS = {""}
rank = functools.partial(linear, weights=np.zeros(0))
# Scores to probabilities, where the model has any.
probability: Callable[[np.ndarray], np.ndarray] | None = None


# section end
if __name__ == "__main__":
    sys.exit(main())
