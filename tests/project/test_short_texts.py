"""Texts found by their slots are those that a dictionary finds, one by one."""

import numpy as np
import pytest

from aucstudio.project.data.gathering import _Known
from aucstudio.project.data.short_texts import ShortTexts
from aucstudio.project.data.text.short import _are_plain

_DRAW = np.random.default_rng(5)
_KINDS = {
    "few": ["yes", "no", " no", "", "NA", "na "],
    "beginnings": ["a" * n for n in range(17)],
    "ends": [f"{'x' * 8}{n}" for n in range(40)] + [f"{'x' * 7}{n}y" for n in range(10)],
    "letters": ["é", "ée", "日本", "日本語五文", "\ufeffx", "\U0010ffff"],
    "many for their slots": [f"P{n:06d}" for n in range(1_500)],
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
        assert found.tolist() == [alone[text] for text in texts]
        assert all(text is None or known[text] is text for text in found)
    assert (known.distinct, known.has_absent) == (alone.distinct, alone.has_absent)


@pytest.mark.parametrize("texts", [["a", "a\0"], ["x" * 17, "y"]], ids=["NUL", "long"])
def test_what_two_integers_do_not_tell_is_left_to_the_dictionary(texts):
    ((_, data, edges),) = _pieces(texts, 1)
    assert ShortTexts(_Known(frozenset())).find(data, edges) is None


def test_of_very_many_texts_each_is_looked_up():
    known = _Known(frozenset())
    short = ShortTexts(known)
    found = [short.find(d, e) for _, d, e in _pieces([f"{n}" for n in range(90_000)], 5)]
    assert found[0] is not None
    assert found[-1] is None


def test_no_texts_at_all():
    found = ShortTexts(_Known(frozenset())).find(np.empty(0, np.uint8), np.zeros(1, np.int64))
    assert found.tolist() == []


def test_a_cell_with_a_line_end_is_no_two_numbers():
    assert _are_plain(("1", "-2.5"))
    assert _are_plain(())
    for column in (("1\n2",), ("1", ""), ("1\n", "2"), ("1.",), ("1", "x")):
        assert not _are_plain(column)
