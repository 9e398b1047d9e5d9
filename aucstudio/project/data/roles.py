"""Detect roles, the label and the positive class, and report them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aucstudio.notices.words import class_words, listed
from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.columns import Column, ColumnInfo, recast
from aucstudio.project.data.finding import Finding, found

if TYPE_CHECKING:
    from aucstudio.project.data.any_table import AnyTable

MAX_CLASSES = 20

_NAMES = {name: frozenset(words) for name, words in vocabulary.section("column_names").items()}
_LABEL_ENDINGS = [[word] for word in _NAMES["label_endings"]]
_ID_ENDINGS = _NAMES["ids"] | _NAMES["id_endings"]
_NUMBERED_THINGS = _NAMES["things"] | _NAMES["numbered"]
_NAMED_BY_NUMBER = re.compile(
    r"(?:case|subj|subject|pat|patient|user|cust|customer|resp|record|rec|member|person|study|"
    r"account|acct|order|sample|visit|client|emp|employee|student|item)(?:id|no|nr|num)|"
    r"\w*(?:nr|nummer|numero)"
)

# Text with more distinct values than this share of its rows is ignored.
_MOSTLY_DISTINCT = 0.5
_FEW_LEVELS = 50
# With this many rows, at least two texts of a category are equal.
_FEWEST_TEXTS = 12
_FEWEST_NUMBERED = 5
# Largest share of missing cells of a label without a label's name.
_MOST_MISSING = 0.9
# Most spellings of two classes.
_MOST_SPELLINGS = 6
_LOOKED_AT = 1000
# A word followed by a number, or a number with too many digits for a double.
_NUMBERED = re.compile(r"([^\s\d]+)\d+|\d{16,}")
_LONG_TEXT = 60


def guess_role(column: Column) -> Column:
    """Assign a column the role of its kind, or "ignore" with the reason."""
    why = _useless(column)
    natural = "number" if column.kind == "number" and not is_flag(column) else "category"
    return recast(column, role="ignore" if why else natural, why=why)


def is_flag(column: Column) -> bool:
    """Return whether a column repeatedly holds one value or nothing."""
    return column.missing > 1 and column.height - column.missing > 1 and _has(1, 1, column)


def _useless(column: Column) -> str:
    """Return the code of the notice on why a column is ignored; empty if it is used."""
    known = column.height - column.missing
    if not known:
        return "ignored_empty"
    if not column.different.exceeds(1) and not is_flag(column):
        return "ignored_constant"
    if _is_identifier(column, known):
        return "ignored_identifier"
    if column.kind == "text" and column.distinct > _most_levels(known):
        return "ignored_texts"
    if column.kind == "text" and _is_prose(column):
        return "ignored_prose"
    return ""


def _most_levels(known: int) -> float:
    """Return the largest number of distinct texts of a category."""
    all_but_one = known - 1 if known >= _FEWEST_TEXTS else known
    return min(all_but_one, max(_FEW_LEVELS, _MOSTLY_DISTINCT * known))


def _is_identifier(column: Column, known: int) -> bool:
    words = words_of(column.name)
    named = bool(words) and (
        words[-1] in _ID_ENDINGS or words[0] == "unnamed" or not _NAMES["ids"].isdisjoint(words)
    )
    named = named or (known >= _FEWEST_TEXTS and _names_thing(column.name))
    is_name = named and (column.kind == "text" or column.is_integer())
    return (is_name or is_numbered(column)) and column.distinct == known


def _names_thing(name: str) -> bool:
    """Return whether a name denotes a thing or its number: case, caseid, 患者ID, N° pièce."""
    bare = name.strip().lower()
    first = re.split(r"[\s.]", bare)[0]
    return (
        bare.rstrip(".") in _NUMBERED_THINGS
        or re.search(r"(?<![\x00-\x7f])id$", bare) is not None
        or (first in _NUMBERED_THINGS and not first.isalpha())
        or _NAMED_BY_NUMBER.fullmatch(bare) is not None
    )


def _first_texts(column: Column) -> list[str]:
    return [cell for cell in column.values[:_LOOKED_AT].tolist() if cell is not None]


def is_numbered(column: Column) -> bool:
    """Return whether cells are one word followed by a number: P00, P01, P02."""
    if column.kind != "text" or column.height - column.missing < _FEWEST_NUMBERED:
        return False
    numbered = [_NUMBERED.fullmatch(cell) for cell in _first_texts(column)]
    return len({match and match[1] for match in numbered}) == 1 and None not in numbered


def _is_prose(column: Column) -> bool:
    cells = _first_texts(column)
    sentences = [cell for cell in cells if cell.count(" ") > 3]
    return column.distinct > MAX_CLASSES and sum(map(len, sentences)) > _LONG_TEXT * len(cells)


def is_named_identifier(name: str) -> bool:
    """Return whether a name is that of persons or things: patient_id, id_patient, customer_no."""
    *first, last = words_of(name) or [""]
    is_number_of = last in _NAMES["id_endings"] and not _NUMBERED_THINGS.isdisjoint(first[-1:])
    return last in _NAMES["ids"] | _NAMES["things"] or is_number_of


def is_named_code(name: str) -> bool:
    """Return whether a name is that of codes: dept_code, region, 地区コード."""
    words, endings = words_of(name), tuple(_NAMES["code_endings"])
    is_code = not _NAMES["codes"].isdisjoint(words) or any(word.endswith(endings) for word in words)
    return is_code or is_named_thing(name)


def is_named_thing(name: str) -> bool:
    """Return whether a name is that of things whose codes are numbers: dept_code, region."""
    return not _NAMES["coded_things"].isdisjoint(words_of(name))


def words_of(name: str) -> list[str]:
    """Split a name at capitals, digits and signs into words in lower case."""
    parts = re.findall(r"[^\W\d_A-Z]*[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+", name)
    return [part.lower() for part in parts]


def guess_label(columns: Sequence[Column]) -> str | None:
    """Return the most likely label column; None if none is likely.

    One named like a label, the surest name first; else the last column if it has two values,
    else one with a doubtful name; else one of a few values that is named so, else the first of
    two; else the last of a few.
    """
    used = (column for column in columns if column.role != "ignore")
    candidates = [c for c in used if c.missing <= _MOST_MISSING * c.height or is_label_name(c.name)]
    binary = [column for column in candidates if _has_two(column)]
    few = [c for c in candidates if _has(2, min(MAX_CLASSES, (c.height - c.missing) // 2), c)]
    last = [column for column in candidates[-1:] if column is columns[-1]]
    ranking = [
        *(column for column in binary if is_sure(column.name)),
        *(column for column in binary if is_label_name(column.name)),
        *(column for column in few if is_sure(column.name)),
        *(column for column in last if column in binary),
        *(column for column in binary if _is_in("doubtful_labels", name=column.name)),
        *(column for column in few if _is_in("labels", "doubtful_labels", name=column.name)),
        *binary,
        *(column for column in last if column in few),
    ]
    return ranking[0].name if ranking else None


def other_labels(label: str, columns: Sequence[ColumnInfo]) -> list[str]:
    """Name the columns that may be the label as well as the one that was detected."""
    if is_sure(label):
        return []
    features = [c for c in columns if c.name != label and c.role in ("number", "category")]
    named = [c for c in features if is_label_name(c.name)]
    if not is_label_name(label):
        doubtful = [
            c for c in features if _is_in("doubtful_labels", name=c.name) or c is columns[-1]
        ]
        named = [c for c in features if c in named or c in doubtful]
    return [column.name for column in named if _has(2, 2, column)]


def _is_in(*lists: str, name: str) -> bool:
    return any(name.strip().lower() in _NAMES[words] for words in lists)


def is_sure(name: str) -> bool:
    """Return whether a name is hardly ever anything but that of a label."""
    return _is_in("sure_labels", name=name)


def is_label_name(name: str) -> bool:
    """Return whether a name is that of a label."""
    return _is_in("labels", name=name) or words_of(name)[-1:] in _LABEL_ENDINGS


def _has_two(column: Column) -> bool:
    """Return whether a column has two values, or several spellings of two."""
    if column.kind == "text" and _has(3, _MOST_SPELLINGS, column):
        return len({text.strip().lower() for text in column.counts}) == 2
    return _has(2, 2, column)


def _has(least: int, most: int, column: ColumnInfo) -> bool:
    """Return whether the number of distinct values is within bounds, without counting more."""
    return column.different.exceeds(least - 1) and not column.different.exceeds(most)


def guess_positive(classes: Mapping[str, int]) -> str | None:
    """Return the positive one of two classes, the rarer one; None if there are not two."""
    if len(classes) != 2:
        return None
    first, second = sorted(classes)
    if classes[first] != classes[second]:
        return min(classes, key=lambda name: classes[name])
    telling = [name for name in (first, second) if name.lower() in _NAMES["positives"]]
    return telling[0] if len(telling) == 1 else second


def role_findings(table: AnyTable) -> Iterator[Finding]:
    """Yield findings about detected roles, beginning with the label."""
    yield from label_findings(table)
    for column in table.columns:
        if column.why:
            yield found(column.why, column.name, distinct=column.distinct)
        if column.role == "group" and column.missing:
            yield found("rows_without_group", column.name, rows=column.missing)


def label_findings(table: AnyTable) -> Iterator[Finding]:
    """Yield findings about the detected label and about what must be chosen."""
    if table.label is None:
        return
    if "label" in table.guessed:
        if others := other_labels(table.label, table.columns):
            yield found("label_doubtful", table.label, names=listed(others))
        else:
            yield found("label_guessed", table.label)
    if "positive" in table.guessed and table.positive is not None:
        positives = table.classes[table.positive]
        rarer = 2 * positives < sum(table.classes.values())
        positive = class_words(table.positive)
        yield found("positive_guessed", table.label, positive=positive, rarer=rarer)
    if table.positive is None and len(table.classes) > 2:
        yield found("positive_open", table.label, classes=len(table.classes))
    if table.unlabelled:
        yield found("unlabelled_rows", table.label, rows=table.unlabelled)
