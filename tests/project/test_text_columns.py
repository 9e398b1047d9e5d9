"""Text columns from DuckDB equal those parsed cell by cell."""

import nanoarrow
import numpy as np
import pytest

from aucstudio.project.data import cells
from aucstudio.project.data.text.numerals import BLANKS, MISSING_TEXT, are_plain

KINDS = {
    "few": ["yes", "no", " no", "", "NA", "na "],
    "longer and longer": ["x", "y" * 9, "x" * 17, *("x" * 30 + f"{n}" for n in range(40))],
    "letters": ["é", "ée", "日本", "日本語五文", "\ufeffx", "\U0010ffff"],
    "many": [f"P{n:06d}" for n in range(1_500)],
    "odd": [" a", "a", "a ", "\u00a0a", "a\u200b", "n/a", "Nan", "\u212a", "x\0", "ы", "z" * 40],
}


@pytest.mark.parametrize("most", [None, 3, 600], ids=["shared", "alone at once", "alone later"])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_stripped_and_counted(kind, most, monkeypatch):
    if most is not None:
        monkeypatch.setattr(cells, "MOST_SHARED", most)
    rng, absent = np.random.default_rng(5), MISSING_TEXT | {"k"}
    column, wanted = cells.Texts(10, absent), []
    for start in range(6):
        texts = [KINDS[kind][k] for k in rng.integers(0, len(KINDS[kind]), 900)]
        array = nanoarrow.c_array(texts, nanoarrow.large_string())
        keys = nanoarrow.c_array([hash(text) % 2**64 for text in texts], nanoarrow.uint64())
        column.add(nanoarrow.c_array(array)[start:].view(), keys[start:].view())
        bare = [text.strip(BLANKS) for text in texts[start:]]
        wanted += [None if text.lower() in absent else text for text in bare]
    found = column.cells()
    assert found.values.tolist() == wanted
    assert found.missing == wanted.count(None)
    known = sorted(set(wanted) - {None})
    assert found.distinct == len(known)
    if most is None:
        assert list(found.counts.items()) == [(text, wanted.count(text)) for text in known]


def test_cells_with_line_ends_are_not_plain_numbers():
    assert are_plain(("1", "-2.5"))
    assert are_plain(())
    for column in (("1\n2",), ("1", ""), ("1\n", "2"), ("1.",), ("1", "x")):
        assert not are_plain(column)
