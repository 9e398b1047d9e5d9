"""Options that say which table is meant and how it is read, and what was given of them."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aucstudio.console import note
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.data.preparing.acceptance import RefusedColumnsError


def add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a table: text, packed or not, Parquet, Excel, SAS, Stata, SPSS, ARFF, JSON, a "
        "database; - is the standard input",
    )


_ROLES = {
    "ignore": "a column to ignore",
    "category": "a column of categories, whatever it holds",
    "number": "a column of numbers",
    "id": "a column that names the rows: kept with scores, not a feature",
    "group": "a column whose equal cells stay together in a split",
    "weight": "a column that weighs the rows: in training, areas, intervals and tests",
}


def add_column_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", metavar="COL", help="the column that holds the class")
    parser.add_argument(
        "--positive",
        metavar="VALUE",
        action="append",
        help="the class to find; given several times, these together; or a threshold such as "
        "'>= 5' of a label of numbers",
    )
    parser.add_argument(
        "--merge-spellings",
        action="store_true",
        help="merge classes that differ only in case and spaces",
    )
    for role, words in _ROLES.items():
        parser.add_argument(f"--{role}", metavar="COL", action="append", default=[], help=words)
    parser.add_argument(
        "--weight-kind",
        choices=("sampling", "frequency"),
        default="sampling",
        help="sampling: weights are inverse sampling probabilities, the default; frequency: they "
        "count equal rows",
    )
    parser.add_argument(
        "--missing-in",
        metavar="COL=NUMBER",
        action="append",
        default=[],
        help=(
            "a number that means missing in one column, such as age=-999; separate several "
            "by commas"
        ),
    )
    parser.add_argument(
        "--date-parts",
        metavar="COL=PART,...",
        action="append",
        default=[],
        help="features of a date column: number (days, or hours), year, quarter, month, week, day, "
        "yearday, weekday, weekend, hour, minute, daytime; as sine and cosine: month-circle, "
        "weekday-circle, hour-circle",
    )
    add_dialect_options(parser)


def add_dialect_options(parser: argparse.ArgumentParser) -> None:
    marks = parser.add_argument_group("how the text file is written, where the guess is wrong")
    marks.add_argument("--delimiter", metavar="MARK", help="the delimiter; tab for tabs")
    marks.add_argument("--encoding", metavar="NAME", help="such as utf-8 or cp1252")
    marks.add_argument("--decimal", metavar="MARK", help="the decimal mark, . or ,")
    marks.add_argument("--quote", metavar="MARK", help="quote character; none for no quoting")
    marks.add_argument("--skip", metavar="N", type=int, help="lines before the table")
    marks.add_argument(
        "--sheet", metavar="NAME", help="which sheet of a workbook, table of a database or member"
    )
    marks.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        help="another spelling of missing values",
    )
    marks.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="refuse the file at the first row that cannot be read",
    )


def add_acceptance_options(parser: argparse.ArgumentParser) -> None:
    """Declare what is accepted of a table that does not hold what the training table did."""
    group = parser.add_argument_group("where columns are not as in the training table")
    group.add_argument(
        "--written",
        metavar="COL=CELL",
        action="append",
        default=[],
        help="how a column of numbers or dates is written, by one of its cells: 'rate=12.5 %%', "
        "'day=31.12.2023'",
    )
    group.add_argument(
        "--scale",
        metavar="COL=FACTOR",
        action="append",
        default=[],
        help="multiply a column of a text file by a factor: rate=0.01",
    )
    for kind, words in _ACCEPTED.items():
        group.add_argument(
            f"--allow-{kind}", metavar="COL", action="append", default=[], help=words
        )


_ACCEPTED = {
    "unknown": "score although this column is absent or holds nothing that the model knows",
    "unreadable": "score although cells of this column cannot be read: they count as missing",
    "range": "score although numbers of this column are far outside the range of training",
}


def read_acceptance(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what is accepted, and how columns are written."""
    written: dict[str, str] = {}
    for text in options.written:
        column, equals, cell = text.partition("=")
        if not (equals and column and cell.strip()):
            raise InputError(
                f"--written takes COL=CELL, such as 'rate=12.5 %'; it is {text!r}",
                setting="written",
            )
        written[column] = cell.strip()
    allowed = {kind: getattr(options, f"allow_{kind}") for kind in _ACCEPTED}
    return {"written": written, "scale": _read_scale(options.scale), "allowed": allowed}


def _read_scale(given: Sequence[str]) -> dict[str, float]:
    scale: dict[str, float] = {}
    for text in given:
        column, equals, number = text.rpartition("=")
        try:
            factor = float(number)
        except ValueError:
            factor = 0.0
        if not (equals and column and math.isfinite(factor) and factor):
            raise InputError(
                f"--scale takes COL=FACTOR, such as rate=0.01; it is {text!r}", setting="scale"
            )
        scale[column] = factor
    return scale


def with_options(error: RefusedColumnsError) -> str:
    """Return the sentence of a refusal with the options that mend or allow it.

    None are named where a column name may be mistyped: the sentence offers that name.
    """
    if str(error).endswith("?"):
        return str(error)
    remedies = dict.fromkeys(
        f"--{remedy.setting} {shlex.quote(remedy.of_column(name))}"
        for name, refusal in error.refusals.items()
        if (remedy := refusal.remedy) is not None
    )
    allowing = " ".join(
        f"--allow-{refusal.kind} {name!r}" for name, refusal in error.refusals.items()
    )
    mend = f"{' '.join(remedies)} reads it; " if remedies else ""
    kinds = {refusal.kind for refusal in error.refusals.values()}
    how = "with these numbers as they are" if kinds == {"range"} else "all the same"
    return f"{error}; {mend}{allowing} scores the rows {how}"


def add_stream_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stream",
        action="store_true",
        help="leave the table on disk and read it in blocks; so is one that is too large for "
        "memory (auc-rls, rank-svm, nbauc, nsauc)",
    )
    parser.add_argument(
        "--block-size", metavar="SIZE", help="the same in blocks of this size (default 64M)"
    )


def read_roles(options: argparse.Namespace) -> dict[str, str]:
    """Collect the roles that columns were given."""
    roles: dict[str, str] = {}
    for role in _ROLES:
        for column in getattr(options, role):
            if roles.setdefault(column, role) != role:
                raise InputError(
                    f"column {column!r} is given two roles, {roles[column]} and {role}: keep one",
                    column=column,
                    setting=role,
                )
    if options.weight_kind == "frequency":
        if not options.weight:
            raise InputError(
                "--weight-kind needs a weight column: add --weight COLUMN",
                setting="weight-kind",
            )
        roles |= dict.fromkeys(options.weight, "frequency")
    return roles


def read_said(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what was said about the columns: label, classes, roles, missing numbers, dates."""
    return {
        "label": options.label,
        "positive": options.positive,
        "merge": options.merge_spellings or None,
        "roles": read_roles(options),
        "absent": _read_absent(options.missing_in),
        "parts": _read_parts(options.date_parts),
    }


def _read_absent(given: Sequence[str]) -> dict[str, tuple[float, ...]]:
    absent: dict[str, tuple[float, ...]] = {}
    for text in given:
        column, equals, numbers = text.rpartition("=")
        try:
            found = tuple(float(number) for number in numbers.split(","))
        except ValueError:
            found = ()
        if not (equals and column and found):
            raise InputError(
                f"--missing-in takes COL=NUMBER, such as age=-999; it is {text!r}",
                setting="missing-in",
            )
        absent[column] = (*absent.get(column, ()), *found)
    return absent


def _read_parts(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    parts: dict[str, tuple[str, ...]] = {}
    for text in given:
        column, equals, named = text.rpartition("=")
        if not (equals and column and named):
            raise InputError(
                "--date-parts takes COL=PART, such as admitted=number,weekday,month-circle; it is "
                f"{text!r}",
                setting="date-parts",
            )
        asked = (part.strip().lower() for part in named.split(","))
        parts[column] = (*parts.get(column, ()), *asked)
    return parts


def read_dialect(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what was said about how the text file is written."""
    words = {
        "delimiter": {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "},
        "quote": {"none": ""},
    }
    given: dict[str, Any] = {}
    for part in ("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "strict"):
        value = getattr(options, part)
        if value is not None:
            given[part] = words.get(part, {}).get(value, value)
    if "delimiter" in given:
        given["delimiter"] = _control(given["delimiter"])
    if options.missing:
        given["missing"] = tuple(options.missing)
    return given


def _control(mark: str) -> str:
    r"""Read ``\x01`` or ``^A`` as the character that cannot be typed."""
    if len(mark) == 4 and mark[:2] == "\\x" and set(mark[2:]) <= set("0123456789abcdefABCDEF"):
        return chr(int(mark[2:], 16))
    if len(mark) == 2 and mark[0] == "^" and "A" <= mark[1] <= "_":
        return chr(ord(mark[1]) - 64)
    return mark


def choose_reader(
    options: argparse.Namespace, data: str, methods: Sequence[str | None]
) -> Callable[..., AnyTable]:
    from aucstudio.project.data.table import read_table
    from aucstudio.project.runs.stream_plan import table_reader

    stream, block_size = options.stream, options.block_size
    found = [table_reader(data, method, stream, block_size) for method in dict.fromkeys(methods)]
    read, said = found[0]
    elsewhere = "cluster" if getattr(options, "cluster", None) else "jobs"
    if read is not read_table and (elsewhere == "cluster" or getattr(options, "jobs", 1) > 1):
        raise InputError(
            f"an out-of-memory table is read by this program alone: leave out --{elsewhere}",
            setting=elsewhere,
        )
    if said:
        note(said)
    return read
