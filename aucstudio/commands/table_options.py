"""Options that select a table and state how to read it."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aucstudio.commands.options import add, by_column, refuse
from aucstudio.console import note
from aucstudio.project.errors import input_error

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable
    from aucstudio.project.data.preparing.acceptance import RefusedColumnsError

_TABLE = {
    "data DATA": "a table: text, packed or not, Parquet, Excel, SAS, Stata, SPSS, ARFF, JSON, a "
    "database; - is the standard input",
    "--label COL": "the label column",
    "--positive VALUE*": "the positive class; repeated, these classes together; '>= 5' splits a "
    "numeric label",
    "--merge-spellings": "merge classes that differ only in case and spaces",
}
_ROLES = {
    "--ignore COL*": "a column to ignore",
    "--category COL*": "treat a column as categories",
    "--number COL*": "treat a column as numbers",
    "--id COL*": "row identifier: kept with scores, not used as a feature",
    "--group COL*": "group column: rows of one group stay together in every split",
    "--weight COL*": "weight column, used in training, areas, intervals and tests",
}
_WEIGHT_KIND = {
    "--weight-kind": "sampling (default): inverse sampling probabilities; "
    "frequency: counts of equal rows",
}
_CELLS = {
    "--missing-in COL=NUMBER*": "a number that means missing in one column, such as age=-999; "
    "separate several by commas",
    "--date-parts COL=PART,...*": "features of a date column: number (days, or hours), year, "
    "quarter, month, week, day, yearday, weekday, weekend, hour, minute, daytime; as sine and "
    "cosine: month-circle, weekday-circle, hour-circle",
}
_DIALECT = {
    "--delimiter MARK": "the delimiter; tab for tabs",
    "--encoding NAME": "such as utf-8 or cp1252",
    "--decimal MARK": "the decimal mark, . or ,",
    "--quote MARK": "quote character; none for no quoting",
    "--skip N int": "lines before the table",
    "--sheet NAME": "sheet of a workbook, table of a database, or member of an archive",
    "--missing TEXT*": "another spelling of missing values",
    "--strict": "refuse the file at the first row that cannot be read",
}
_NOTATION = {
    "--written COL=CELL*": "format of a column of numbers or dates, shown by one cell: "
    "'rate=12.5 %%', 'day=31.12.2023'",
    "--scale COL=FACTOR*": "multiply a column of a text file by a factor: rate=0.01",
    "--allow-unknown COL*": "score even if this column is absent or has no value that the model "
    "knows",
    "--allow-unreadable COL*": "score even if cells of this column cannot be read: they count as "
    "missing",
    "--allow-range COL*": "score even if numbers of this column are far outside the training range",
}
_ACCEPTED = ("unknown", "unreadable", "range")
_MARKS = {
    "delimiter": {"tab": "\t", "\\t": "\t", "blank": " ", "blanks": " "},
    "quote": {"none": ""},
}


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Declare which table is meant, what its columns are, and how it is written."""
    add(parser, _TABLE)
    add(parser, _ROLES)
    add(parser, _WEIGHT_KIND, choices=("sampling", "frequency"), action="store", default="sampling")
    add(parser, _CELLS)
    add_dialect_options(parser)


def add_dialect_options(parser: argparse.ArgumentParser) -> None:
    """Declare how a text file is written."""
    marks = parser.add_argument_group("format of the text file, where detection is wrong")
    add(marks, _DIALECT)


def add_acceptance_options(parser: argparse.ArgumentParser) -> None:
    """Declare what is accepted of a table that does not hold what the training table did."""
    add(parser.add_argument_group("where columns are not as in the training table"), _NOTATION)


def read_acceptance(options: argparse.Namespace) -> dict[str, Any]:
    """Collect what is accepted, and how columns are written."""
    written: dict[str, str] = {}
    for text in options.written:
        column, _, cell = text.partition("=")
        example = "--written takes COL=CELL, such as 'rate=12.5 %'"
        refuse(not (column and cell.strip()), f"{example}; it is {text!r}", "written")
        written[column] = cell.strip()
    example = "COL=FACTOR, such as rate=0.01"
    scale = dict(by_column(options.scale, "scale", example, _factor))
    allowed = {kind: getattr(options, f"allow_{kind}") for kind in _ACCEPTED}
    return {"written": written, "scale": scale, "allowed": allowed}


def _factor(text: str) -> float:
    factor = float(text)
    if not (math.isfinite(factor) and factor):
        raise ValueError
    return factor


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
    how = "with these numbers as they are" if kinds == {"range"} else "nevertheless"
    return f"{error}; {mend}{allowing} scores the rows {how}"


def _read_roles(options: argparse.Namespace) -> dict[str, str]:
    """Collect the roles that columns were given."""
    roles: dict[str, str] = {}
    for role in ("ignore", "category", "number", "id", "group", "weight"):
        for column in getattr(options, role):
            if roles.setdefault(column, role) != role:
                raise input_error(
                    "two_roles", column=column, setting=role, other=roles[column]
                )
    if options.weight_kind == "frequency":
        absent = "--weight-kind needs a weight column: add --weight COLUMN"
        refuse(not options.weight, absent, "weight-kind")
        roles |= dict.fromkeys(options.weight, "frequency")
    return roles


def read_said(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options about the table, its columns and its dialect.

    These are arguments of :func:`~aucstudio.project.data.table.read_table`.
    """
    absent: dict[str, tuple[float, ...]] = {}
    example = "COL=NUMBER, such as age=-999"
    for column, numbers in by_column(options.missing_in, "missing-in", example, _numbers):
        absent[column] = (*absent.get(column, ()), *numbers)
    parts: dict[str, tuple[str, ...]] = {}
    example = "COL=PART, such as admitted=number,weekday,month-circle"
    for column, asked in by_column(options.date_parts, "date-parts", example, _names):
        parts[column] = (*parts.get(column, ()), *asked)
    return {
        "label": options.label,
        "positive": options.positive or None,
        "merge": options.merge_spellings or None,
        "roles": _read_roles(options),
        "absent": absent,
        "parts": parts,
        "dialect": read_dialect(options),
    }


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _names(text: str) -> tuple[str, ...]:
    if not text:
        raise ValueError
    return tuple(part.strip().lower() for part in text.split(","))


def read_dialect(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options about the format of the text file."""
    given: dict[str, Any] = {}
    for part in ("delimiter", "encoding", "decimal", "quote", "skip", "sheet", "strict"):
        value = getattr(options, part)
        if value is not None and value is not False:
            given[part] = _MARKS.get(part, {}).get(value, value)
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
    """Return what reads the table, or opens it on disk."""
    from aucstudio.project.data.table import read_table
    from aucstudio.project.runs.estimate import table_reader

    stream, block_size = options.stream, options.block_size
    found = [table_reader(data, method, stream, block_size) for method in dict.fromkeys(methods)]
    read, remark = found[0]
    elsewhere = "cluster" if getattr(options, "cluster", None) else "jobs"
    refuse(
        read is not read_table and (elsewhere == "cluster" or getattr(options, "jobs", 1) > 1),
        f"an out-of-memory table is read by one process only: leave out --{elsewhere}",
        elsewhere,
    )
    if remark:
        note(remark)
    return read
