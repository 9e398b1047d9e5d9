"""Findings: facts about an imported table, ordered by their consequence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aucstudio.notices import entry, text
from aucstudio.notices.words import listed
from aucstudio.project.typed import Sendable

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable

# How the file is laid out, which changes no result.
FORMAT = "format"
TIME_ORDER = "rows_in_time_order"
# The weightiest first: what makes every figure wrong, then what was lost or misread, then what is
# worth knowing.
KINDS = (
    "leak",  # a column reveals the label, or test rows were trained on
    "label",  # the label cannot be used as it is, or a class has very few rows
    "weight",  # row weights are invalid or nearly useless
    "encoding",  # letters may have been decoded wrongly
    "header",  # names may belong to other columns
    "rejected",  # rows were left out
    "sentinel",  # number codes for a missing value
    "spelling",  # one class or level in several spellings
    "duplicates",  # rows that occur more than once
    "group",  # rows that seem to belong together, which splits would take apart
    "kind",  # a column may not be what it was read as
    "identifier",  # a column that nearly identifies the row, or its place in the file
    "positive",  # the label or the positive class was detected
    "ignored",  # columns without use for training
    "missing",  # missing values
    FORMAT,
)
# Equal findings about more columns than this become one, which names some of the columns.
_MOST_ALIKE, _SHOWN = 5, 5


@dataclasses.dataclass(frozen=True)
class Finding(Sendable):
    """A fact about an imported table.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    sentence : str
        The text; begins in lower case and has no full stop.
    columns : tuple of str
        The columns concerned.
    rows : int
        How many rows (of a column: cells) are concerned; 0 where that does not apply.
    values : tuple of str
        The cells concerned, as they are spelled: sentinels, spellings of one class, numbers that
        may be codes.
    code : str
        The entry of the catalogue; empty if the text is not in the catalogue.
    facts : tuple of (str, value)
        The values in the text.
    """

    kind: str
    sentence: str
    columns: tuple[str, ...] = ()
    rows: int = 0
    values: tuple[str, ...] = ()
    code: str = ""
    facts: tuple[tuple[str, Any], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        names = ("kind", "sentence", "columns", "rows", "values", "code")
        return {name: getattr(self, name) for name in names}

    def notice(self) -> dict[str, Any]:
        """Return code, severity, values and text, as every JSON document has them."""
        severity = entry(self.code)["severity"] if self.code else "info"
        code = self.code or self.kind
        values = dict(self.facts)
        return {"code": code, "severity": severity, "text": self.sentence, "values": values}


def found(
    code: str, *columns: str, rows: int = 0, values: tuple[str, ...] = (), **more: Any
) -> Finding:
    """Return the finding of a catalogue entry, with its text filled in."""
    column = columns[0] if columns else ""
    facts = {"column": column, "rows": rows, "values": values, **more}
    kind = entry(code)["kind"]
    return Finding(kind, phrase(code, **facts), columns, rows, values, code, tuple(facts.items()))


def remark(code: str, columns: tuple[str, ...] = (), rows: int = 0, /, **values: Any) -> Finding:
    """Return the finding of an import notice, which has a full stop in the catalogue."""
    sentence, kind = phrase(code, **values), entry(code)["kind"]
    return Finding(kind, sentence, columns, rows, (), code, tuple(values.items()))


def phrase(code: str, **values: Any) -> str:
    """Return the text of a code in the catalogue, without the full stop."""
    return text(code, **values).removesuffix(".")


def open_findings(findings: Iterable[Finding], table: AnyTable) -> list[Finding]:
    """Return the findings that may need an answer.

    Nothing is left to answer about columns that the user ignores, unless they order the rows in
    time, nor about numbers for missing values in a column that reveals the label.
    """
    found = list(findings)
    unused = {c.name for c in table.columns if c.role == "ignore" and not c.guessed}
    leaking = {name for one in found if one.kind == "leak" for name in one.columns}

    def is_open(one: Finding) -> bool:
        answered = unused | leaking if one.kind == "sentinel" else unused
        return not one.columns or one.code == TIME_ORDER or not answered.issuperset(one.columns)

    return list(filter(is_open, found))


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Order findings by kind, and within a kind by rows; drop repetitions."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda finding: (KINDS.index(finding.kind), -finding.rows)))


def grouped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Join equal findings about many single columns; the text of the first one remains."""
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.values) if len(finding.columns) == 1 else finding
        alike.setdefault(key, []).append(finding)
    return tuple(
        one
        for group in alike.values()
        for one in ([_joined(group)] if len(group) > _MOST_ALIKE and group[0].code else group)
    )


def _joined(group: Sequence[Finding]) -> Finding:
    names = tuple(finding.columns[0] for finding in group)
    others = listed(names[1:], _SHOWN)
    facts = {"first": group[0].sentence, "count": len(names) - 1, "names": others}
    sentence, rows = phrase("found_in_more_columns", **facts), max(f.rows for f in group)
    return dataclasses.replace(group[0], sentence=sentence, columns=names, rows=rows)
