"""The wording of texts that people read: plain words, short sentences, one spelling of a term."""

import ast
import functools
import re

import pytest

from aucstudio.engine import METHODS, declared_params
from aucstudio.notices import entries
from aucstudio.project import guide
from tests.sources import PACKAGE, nodes

ROOMS = ("gui", "project", "commands")
MOST_WORDS = 30
PRIVATE = re.compile(
    r"\b(tell|tells|told|telling|hear|heard|wish|wished|wishes|settle|settles|settled|anew|obey|"
    r"obeys|learnt|gap-less|otherwise|mend|mends|parted|dear|lay|lays|hands? back|handed back|"
    r"yardstick|judge|judges|judged|stand-?in|stand-?ins)\b",
    re.IGNORECASE,
)
SPELLINGS = {
    "hold-out or held out": r"\bholdout\b|\bheldout\b",
    "FPR range": r"\bFPR[- ]band\b|\bfpr range\b",
    "cut point": r"\bcutpoint\b|\bcut-point\b",
    "missing value": r"\bgap value\b|\bmissing cells?\b",
    "cross-validation": r"\bcross validation\b|\bcrossvalidation\b",
    "false-positive rate": r"\bfalse positive rates?\b",
    "pAUC": r"\bPAUC\b|\bp-AUC\b",
}
# Formulas in exported files and lists of values are not sentences.
FORMULAS = ("store/export/document.py", "store/export/script.py")


def own_strings(path):
    """Yield line and text of every string literal except docstrings; "…" for f-string values."""
    skipped = set()
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= set(map(id, node.values))
            parts = (p.value if isinstance(p, ast.Constant) else "…" for p in node.values)
            yield node.lineno, "".join(parts)
    for node in nodes(path):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in skipped:
            yield node.lineno, node.value


@functools.cache
def texts(*rooms):
    return [
        (f"{path.relative_to(PACKAGE)}:{line}", text)
        for room in rooms
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for line, text in own_strings(path)
        if " " in text.strip()
    ]


@functools.cache
def declared_texts():
    """Return the texts of the notice catalogue and of the declarations of methods."""
    found = [(code, entry["text"]) for code, entry in entries().items()]
    for key, method in METHODS.items():
        texts = method.summary, method.use_when, method.weights_words()
        helps = (declared.help for declared in declared_params(method).values())
        found += [(key, text) for text in (*texts, *helps)]
    return found


def test_no_private_verbs_in_texts():
    found = [(at, hit.group(), text) for at, text in (*texts(*ROOMS), *declared_texts())
             for hit in PRIVATE.finditer(text)]  # fmt: skip
    assert found == []


def test_window_texts_name_no_command_line_options():
    assert [(at, text) for at, text in texts("gui") if re.search(r"(?<!\S)--[a-z]", text)] == []


def test_sentences_are_short():
    long = [
        (at, sentence)
        for at, text in (*texts(*ROOMS), *declared_texts())
        if not at.split(":")[0].endswith(FORMULAS)
        for sentence in re.split(r"(?<=[.!?;:])\s|[|}]", text)
        if len(sentence.split()) > MOST_WORDS
    ]
    assert long == []


@pytest.mark.parametrize("term", SPELLINGS)
def test_every_term_has_one_spelling(term):
    wrong = re.compile(SPELLINGS[term])
    shown = (*texts(*ROOMS), *declared_texts())
    assert [(at, text) for at, text in shown if wrong.search(text)] == []


@pytest.mark.parametrize("name", [n for n in guide.CHAPTERS if n not in ("options", "notebook")])
def test_guide_uses_the_same_words(name):
    page = re.sub(r"```.*?```|`[^`]*`", "", guide.page(name), flags=re.DOTALL)
    assert [hit.group() for hit in PRIVATE.finditer(page)] == []
    for term, wrong in SPELLINGS.items():
        assert not re.search(wrong, page), term
