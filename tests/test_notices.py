"""Notices: each has an entry in the catalogue, its values fill the text, and it survives a file."""

import ast
import string

import pytest

from aucstudio.notices import ERROR, INFO, WARNING, entries, notice, read_notice, text, texts
from aucstudio.project.data.finding import KINDS
from tests.sources import PACKAGE, nodes
from tests.test_words_shown import PRIVATE

PLACE = {"file", "line", "column", "setting"}


def used_codes():
    """Return the codes in the program's source; texts for one or several come with their code."""
    found = [node for path in PACKAGE.rglob("*.py") for node in nodes(path)]
    constants = {
        node.value
        for node in found
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    starts = {  # of codes that are put together, as in text(f"card_{key}")
        node.args[0].values[0].value
        for node in found
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "text"
        if isinstance(node.args[0], ast.JoinedStr)
    }
    return {
        code
        for code in entries()
        if constants & {code, code.removesuffix("_one"), code.removesuffix("_several")}
        or code.startswith(tuple(starts))
    }


def calls():
    """Yield code, names of values and optional names of each call that makes a notice or error."""
    for path in PACKAGE.rglob("*.py"):
        for node in nodes(path):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if name not in ("notice", "input_error", "column_error", "text") or not isinstance(
                node.args[0], ast.Constant
            ):
                continue
            if all(keyword.arg for keyword in node.keywords):
                values = {keyword.arg for keyword in node.keywords}
                yield node.args[0].value, values, PLACE if name.endswith("_error") else set()


def fields(code):
    return named_in(entries()[code]["text"])


def named_in(text):
    """Return the names of the values of a text, also of those inside a choice."""
    found = [part for part in string.Formatter().parse(text) if part[1]]
    own = {field.partition(".")[0] for _, field, _, _ in found}
    return own.union(*(named_in(choice) for _, _, choice, _ in found if choice))


def test_entries_and_calls_match():
    assert used_codes() == set(entries())
    for code, values, optional in calls():
        assert values - optional == fields(code) - optional, code


def test_entries_have_a_known_severity_and_end_punctuation():
    for code, entry in entries().items():
        assert entry["severity"] in ("", INFO, WARNING, ERROR), code
        is_part = code.startswith("help_") or entry["kind"] in KINDS
        is_part = is_part or entry["severity"] in ("", ERROR)
        assert is_part or entry["text"].endswith((".", "?", "}")), code


def test_texts_use_no_private_words():
    for code, entry in entries().items():
        assert not PRIVATE.search(entry["text"]), code


def test_notice_text_contains_its_values():
    helps = (notice("help_larger", setting="regularisation C"), notice("help_columns"))
    found = notice("constant_scores", helps=helps)
    assert found.severity == WARNING
    assert str(found).endswith("a larger regularisation C or other columns.")
    assert str(notice("landmarks", count=1)).startswith(
        "The kernel was approximated on 1 landmark,"
    )
    wider = notice("range_widened", asked=(0.0, 0.05), used=(0.0, 0.1))
    assert "from 0 … 0.05 to 0 … 0.1" in str(wider)
    assert texts([wider, found, wider]) == (str(wider), str(found))


@pytest.mark.parametrize(
    "found",
    [
        notice("range_widened", asked=(0.0, 0.05), used=(0.0, 0.1)),
        notice("constant_scores", helps=(notice("help_balance"),)),
        notice("no_split"),
    ],
)
def test_notice_is_restored_from_its_document(found):
    assert read_notice(found.document()) == found
    assert set(found.as_json()) == {"code", "severity", "values", "text"}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"code": "unheard", "values": {}},
        {"code": "landmarks", "values": {}},
        {"code": "landmarks", "values": {"count": "x"}},
        {"code": "landmarks", "values": 3},
        {"code": "range_widened", "values": {"asked": [], "used": [0, 1]}},
        {"code": "landmarks", "values": {"self": 1}},
        {"code": "constant_scores", "values": {"helps": [{"code": 3}]}},
    ],
)
def test_invalid_notice_document_is_rejected(document):
    with pytest.raises(ValueError, match="notice"):
        read_notice(document)


COST = "about [{time:rough} and ]{size:bytes}"
TEST = "{value:figure +} ({bounds:interval}), {p:p}"
AFTER = "C = {C:setting} in {range:range} after {s:elapsed}"


@pytest.mark.parametrize(
    ("template", "values", "written"),
    [
        (COST, {"time": 0.4, "size": 12e6}, "about 0.4 s and 12 MB"),
        (COST, {"time": None, "size": 12e6}, "about 12 MB"),
        ("a[ of {names:listed}] in [b]", {"names": []}, "a in [b]"),
        ("a[ of {names:listed}]", {"names": list("xyz")}, "a of x, y, z"),
        ("a[ {n} {up:case True=up|False=down}]", {"n": 3, "up": False}, "a 3 down"),
        ("{n:count class|classes}", {"n": 1200}, "1,200 classes"),
        ("no {name!r}", {"name": "Amount\n (EUR)"}, "no 'Amount (EUR)'"),
        (TEST, {"value": 0.5, "bounds": (-1, 1), "p": 0.2}, "+0.500 (−1.000 to 1.000), p = 0.20"),
        ("{kind:case auc=AUC|pauc=pAUC}{more:no .}", {"kind": "pauc", "more": ()}, "pAUC."),
        (AFTER, {"C": 1e-7, "range": (0.0, 0.1), "s": 61}, "C = 10⁻⁷ in 0 … 0.1 after 1 min 1 s"),
    ],
)  # fmt: skip
def test_values_are_formatted_by_their_format_codes(monkeypatch, template, values, written):
    entry = {"text": template, "severity": "", "kind": "", "setting": None}
    monkeypatch.setitem(entries(), "example", entry)
    assert text("example", **values) == written
