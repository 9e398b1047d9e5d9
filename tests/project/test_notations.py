"""A table in any supported notation scores the same, or is refused with the needed option.

One clean table is written in many ways: marks of decimals and thousands, per cent, units, dates,
encodings, words for missing values, delimiters, order and case of the columns. A model is trained
on some of them and scores the others, 200 rows at once and single rows.
"""

import collections
import csv
import dataclasses
import datetime
import io
import re
import shlex

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.project.store.model_file import save_model
from tests.project.test_schema import trained

ROWS, ALONE = 200, (3, 117)
NAMES = ["amount", "rate", "weight", "count", "day", "city", "outcome"]
CITIES = ["Zürich", "Genève", "Bern"]


@dataclasses.dataclass(frozen=True)
class Notation:
    """A notation of the table; ``rate`` is "fraction", "number" (percentage) or "sign" (with %)."""

    decimal: str = "."
    thousands: str = ""
    rate: str = "fraction"
    unit: str = ""
    day: str = "%Y-%m-%d"
    encoding: str = "utf-8"
    missing: str = ""
    delimiter: str = ","
    reverse: bool = False
    upper: bool = False

    def number(self, value, places):
        text = f"{value:,.{places}f}".replace(",", "\0").replace(".", self.decimal)
        return text.replace("\0", self.thousands)

    def cells(self, row):
        amount, rate, weight, count, day, city, outcome = row
        share = self.number(rate if self.rate == "fraction" else 100 * rate, 3)
        day = datetime.date.fromordinal(day)
        return [
            self.missing if amount is None else self.number(amount, 3),
            f"{share} %" if self.rate == "sign" else share,
            self.number(weight, 1) + self.unit,
            self.number(count, 0),
            day.strftime(self.day),
            self.missing if city is None else city,
            outcome,
        ]

    def write(self, path, rows):
        order = [*range(len(NAMES))][:: -1 if self.reverse else 1]
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n")
        names = [name.upper() if self.upper else name for name in NAMES]
        for cells in [names, *map(self.cells, rows)]:
            writer.writerow([cells[k] for k in order])
        path.write_bytes(text.getvalue().encode(self.encoding))
        return path


def rows_of(count):
    rng = np.random.default_rng(5)
    first = datetime.date(2021, 1, 1).toordinal()
    rows = []
    for k in range(count):
        sick = k % 3 == 0
        amount = None if k % 16 == 7 else round(float(rng.uniform(12, 9800)) + 90 * sick, 3)
        rate = round(float(rng.uniform(0.05, 0.8)) + 0.1 * sick, 3)
        weight = round(float(rng.uniform(45, 110)) + 5 * sick, 1)
        people = int(rng.integers(1001, 60_000)) + 4000 * sick
        day = first + int(rng.integers(0, 700))
        city = None if k % 25 == 13 else CITIES[int(rng.integers(0, 3))]
        rows.append([amount, rate, weight, people, day, city, "yes" if sick else "no"])
    return rows


TRAINED = {
    "plain": Notation(),
    "continental": Notation(",", ".", "sign", " kg", "%d.%m.%Y", encoding="cp1252", delimiter=";"),
    "english": Notation(".", ",", "sign", " kg", "%m/%d/%Y", delimiter="\t"),
    "swiss": Notation(".", "'", "number", "", "%d.%m.%Y", missing="NA", delimiter=";"),
}
OTHERS = {
    "decimal, thousands": [(d, t) for d in ".," for t in ("", " ", "'", ".,"[d == "."])],
    "rate": ["fraction", "number", "sign"],
    "unit": ["", " kg", "kg", " g"],
    "day": ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d %b %Y", "%Y%m%d", "%b %d, %Y"],
    "encoding": ["utf-8", "utf-8-sig", "cp1252", "utf-16"],
    "missing": ["", "NA", "n/a", "?", "NULL", "unknown", "n.a."],
    "delimiter": [",", ";", "\t", "|"],
    "reverse": [True],
    "upper": [True],
}


def variants(base):
    """Return each other notation once, with the part that differs; and the base itself once."""
    every = {other: (part, value) for part, value, other in _all_variants(base)}
    return ((*named, other) for other, named in every.items())


def _all_variants(base):
    for part, values in OTHERS.items():
        for value in values:
            changes = dict(zip(part.split(", "), value if "," in part else [value], strict=True))
            yield part, str(value), dataclasses.replace(base, **changes)
    for name, other in TRAINED.items():
        yield "all", name, other


class Scorer:
    """Score tables with one model by the command."""

    def __init__(self, folder, base, capsys):
        self.folder, self.capsys = folder, capsys
        model = trained(base.write(folder / "train.csv", rows_of(ROWS)))
        assert len(model.feature_columns) == 6
        save_model(model, folder / "m.aucmodel")

    def score(self, path, *options):
        command = ["score", str(self.folder / "m.aucmodel"), str(path), *options]
        status = main(command)
        out, err = self.capsys.readouterr()
        scores = [float(row["score"]) for row in csv.DictReader(out.splitlines())]
        return status, np.array(scores), err


def outcome(scorer, path, expected):
    """Score a table, applying the options that refusals suggest; return the outcome."""
    options, seen = [], set()
    for _ in range(6):
        status, scores, err = scorer.score(path, *options)
        if status == 0:
            break
        assert status == 2
        assert err.count("\n") == 1, err
        named = re.search(r"; ((?:--(?:decimal|written|missing|scale) .*?)+) reads it;", err)
        if named is None or named[1] in seen:
            return "renamed" if "did you mean" in err else "refused", err
        seen.add(named[1])
        options += shlex.split(named[1])
    if scores.shape == expected.shape and np.allclose(scores, expected, rtol=1e-9, atol=1e-9):
        return "mended" if options else "equal", " ".join(options)
    reported = "not in the training table" in err or "without a readable number" in err
    told = reported or "without a value" in err
    return "reported" if told and not options else "wrong", err + " ".join(options)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_no_notation_is_misread_silently(name, tmp_path, capsys):
    base, rows = TRAINED[name], rows_of(ROWS)
    scorer = Scorer(tmp_path, base, capsys)
    status, truth, _ = scorer.score(tmp_path / "train.csv")
    assert status == 0
    found = collections.defaultdict(set)
    for part, value, other in variants(base):
        for places in ([*range(ROWS)], *([k] for k in ALONE)):
            path = other.write(tmp_path / "later.csv", [rows[k] for k in places])
            what, words = outcome(scorer, path, truth[places])
            count = "rows" if len(places) > 1 else "alone"
            found[what].add((part, value, count, words))
    assert not found["wrong"]
    # Another unit cannot be converted, a renamed column cannot be guessed, and an unseen level
    # is reported.
    assert {part for part, *_ in found["refused"]} <= {"unit"}
    assert {part for part, *_ in found["renamed"]} == {"upper"}
    assert {part for part, *_ in found["reported"]} <= {"missing"}
    assert {part for part, *_ in found["mended"]} >= {"decimal, thousands", "rate", "day"}
