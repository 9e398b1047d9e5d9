"""Texts found by their slots are those that a dictionary finds, one by one."""

import numpy as np
import pytest

from aucstudio.project.data import column_builder, text_cells
from aucstudio.project.data.cells import OddTexts, ShortTexts, Texts, _Known, text_keys
from aucstudio.project.data.text.numerals import BLANKS, MISSING_TEXT, are_plain

_DRAW = np.random.default_rng(5)
_KINDS = {
    "few": ["yes", "no", " no", "", "NA", "na "],
    "beginnings": ["a" * n for n in range(33)],
    "longer and longer": ["x", "y" * 9, "x" * 17, *("x" * 30 + f"{n}" for n in range(40))],
    "ends": [f"{'x' * 8}{n}" for n in range(40)] + [f"{'x' * 7}{n}y" for n in range(10)],
    "letters": ["é", "ée", "日本", "日本語五文", "\ufeffx", "\U0010ffff"],
    "many for their slots": [f"P{n:06d}" for n in range(1_500)],
    "odd": [" a", "a", "a ", "\u00a0a", "a\u200b", "n/a", "Nan", "\u212a", "x\0", "ы", "z" * 40],
}


def _pieces(kinds, count=12, size=900):
    for _ in range(count):
        texts = [kinds[k] for k in _DRAW.integers(0, len(kinds), size)]
        cells = [text.encode() for text in texts]
        edges = np.cumsum([0, *map(len, cells)], dtype=np.int64)
        yield texts, np.frombuffer(b"".join(cells), dtype=np.uint8), edges


@pytest.mark.parametrize("kind", _KINDS)
def test_texts_are_found_as_one_by_one(kind):
    absent = frozenset({"", "na"})
    known, alone = _Known(absent), _Known(absent)
    short = ShortTexts(known)
    for texts, data, edges in _pieces(_KINDS[kind]):
        found = short.find(data, edges)
        if found is None:  # a NUL, or long ones
            assert kind == "odd"
            return
        assert found.tolist() == [alone[text] for text in texts]
        assert all(text is None or known[text] is text for text in found)
    assert (known.distinct, known.has_absent) == (alone.distinct, alone.has_absent)


@pytest.mark.parametrize("texts", [["a", "a\0"], ["x" * 33, "y"]], ids=["NUL", "long"])
def test_what_few_integers_do_not_tell_is_left_to_the_dictionary(texts):
    ((_, data, edges),) = _pieces(texts, 1)
    assert ShortTexts(_Known(frozenset())).find(data, edges) is None


def test_of_very_many_texts_each_is_looked_up(monkeypatch):
    monkeypatch.setattr(text_cells, "_MOST", 2_000)
    known = _Known(frozenset())
    short = ShortTexts(known)
    found = [short.find(d, e) for _, d, e in _pieces([f"{n}" for n in range(90_000)], 5)]
    assert found[0] is not None
    assert found[-1] is None


def test_no_texts_at_all():
    found = ShortTexts(_Known(frozenset())).find(np.empty(0, np.uint8), np.zeros(1, np.int64))
    assert found.tolist() == []


class _View:
    """Texts as DuckDB gives them, some before them not meant."""

    def __init__(self, data, edges, offset):
        self.offset, self.length = offset, len(edges) - 1 - offset
        self._buffers = (None, edges, data.tobytes())

    def buffer(self, n):
        return self._buffers[n]


@pytest.mark.parametrize("most", [None, 3, 600], ids=["shared", "alone at once", "alone later"])
@pytest.mark.parametrize("kind", _KINDS)
def test_a_column_of_many_different_texts_is_as_one_by_one(kind, most, monkeypatch):
    if most is not None:
        monkeypatch.setattr(column_builder, "_MANY_DIFFERENT", most)
        monkeypatch.setattr(column_builder, "_MOST_SHARED", most)
    absent = MISSING_TEXT | {"k"}
    column, alone, wanted = Texts(10, absent), _Known(absent), []
    for n, (texts, data, edges) in enumerate(_pieces(_KINDS[kind])):
        column.add(_View(data, edges, n))
        wanted += [alone[text] for text in texts[n:]]
    cells = column.cells()
    assert cells.values.tolist() == wanted
    assert cells.missing == wanted.count(None)
    assert cells.distinct == len(set(wanted) - {None})


@pytest.mark.slow
def test_no_letter_of_any_script_hides_a_word_or_a_blank():
    words = {*MISSING_TEXT, "k", "i\u0307", "ёж", "å", "ω"}
    spelled = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000]
    letters = [c for c in spelled if c.strip(BLANKS) != c or c.lower() in words or c.isspace()]
    texts = [*letters, *(f"{c}z" for c in letters if not c.strip(BLANKS)), "Ёж", "NULL", "plain"]
    cells = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    found = OddTexts(BLANKS, words).find(np.frombuffer(b"".join(cells), np.uint8), edges)
    means_else = [
        n for n, t in enumerate(texts) if t.strip(BLANKS) != t or t.strip(BLANKS).lower() in words
    ]
    assert set(means_else) <= set(found.tolist())
    assert len(texts) - 1 not in found


def test_keys_tell_texts_apart():
    texts = [f"{n}" for n in range(30_000)] + [f"{'long ' * 5}{n:x}" for n in range(30_000)]
    texts += ["x" * n for n in range(5, 40)] + ["x" * n + "\0" for n in range(5, 40)]
    cells = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    keys = text_keys(np.frombuffer(b"".join(cells), np.uint8), edges)
    assert len(np.unique(keys)) == len(texts)


def test_a_cell_with_a_line_end_is_no_two_numbers():
    assert are_plain(("1", "-2.5"))
    assert are_plain(())
    for column in (("1\n2",), ("1", ""), ("1\n", "2"), ("1.",), ("1", "x")):
        assert not are_plain(column)
