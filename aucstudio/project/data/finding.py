"""A finding about a table, and the order of findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from aucstudio.notices.catalogue import entry, written

# The weightiest first: what makes every figure wrong, then what was lost or misread, then what is
# worth knowing.
KINDS = (
    "leak",  # a column gives the label away, or test rows were trained on
    "label",  # the label cannot be used as it stands, or its classes are very few
    "weight",  # weights of rows that are none, or say little
    "encoding",  # letters may have been read wrongly
    "header",  # names may belong to other columns
    "rejected",  # rows were left out
    "sentinel",  # numbers that stand for a missing value
    "kind",  # a column may not be what it was read as
    "spelling",  # one class or level in several spellings
    "duplicates",  # rows that occur more than once
    "group",  # rows that seem to belong together
    "identifier",  # a number that names the row, or its place in the file
    "positive",  # the positive class is a guess
    "ignored",  # columns that nothing is learnt from
    "missing",  # cells without a value
)


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something about a table that changes results.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    sentence : str
        What it is, for a person; begins in lower case, without a full stop, as notes do.
    columns : tuple of str
        The columns that it is about.
    rows : int
        How many rows (of a column: cells) it is about; 0 where that does not apply.
    values : tuple of str
        The cells that it is about, as they are spelled: sentinels, spellings of one class, numbers
        that may be codes.
    code : str
        The entry of the catalogue that it is of; empty where its text is of no entry.
    """

    kind: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: int = 0
    values: tuple[str, ...] = ()
    code: str = ""


def found(
    code: str, *columns: str, rows: int = 0, values: tuple[str, ...] = (), **more: Any
) -> Finding:
    """Return the finding of the catalogue's entry ``code``, its text filled with all of these."""
    column = columns[0] if columns else ""
    sentence = written(code, {"column": column, "rows": rows, "values": values, **more})
    return Finding(entry(code)["kind"], sentence, columns, rows, values, code)


def noticed(
    kind: str, code: str, columns: tuple[str, ...] = (), rows: int = 0, /, **values: Any
) -> Finding:
    """Return the finding of a notice of the import, which has a full stop in the catalogue."""
    return Finding(kind, said(code, **values), columns, rows, (), code)


def said(code: str, **values: Any) -> str:
    """Return the text of a code in the catalogue, without the full stop."""
    return written(code, values).removesuffix(".")


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings by consequence: by kind, and within a kind by rows; each once."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda finding: (KINDS.index(finding.kind), -finding.rows)))


def with_findings(findings: Iterable[Finding], notes: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences of findings, and then the notes; each once."""
    return tuple(dict.fromkeys([*(finding.sentence for finding in ranked(findings)), *notes]))
