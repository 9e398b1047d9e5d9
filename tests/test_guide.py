"""The user guide: complete, in step with the parser, and readable as a site."""

import importlib.machinery
import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest

from aucstudio.commands import COMMANDS
from aucstudio.engine import METHODS, declared_params
from aucstudio.gui.desk.actions import PAGES
from aucstudio.project import guide
from aucstudio.project.resources import resource_path

ROOT = Path(__file__).resolve().parent.parent
MOST_TERMS = 40


def load_docs():
    path = str(ROOT / "packaging" / "docs")
    loader = importlib.machinery.SourceFileLoader("docs", path)
    spec = importlib.util.spec_from_loader("docs", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_help_file_is_a_chapter():
    files = {path.stem for path in resource_path("help").glob("*.md")}
    assert files == {*guide.CHAPTERS, "whatsnew", "about"}


@pytest.mark.parametrize("name", guide.CHAPTERS)
def test_every_chapter_has_one_title(name):
    lines = re.sub(r"```.*?```", "", guide.page(name), flags=re.DOTALL).splitlines()
    assert [line for line in lines if line.startswith("# ")] == [lines[0]]


def test_every_view_of_the_window_has_a_chapter():
    titles = "\n".join(guide.page(name).splitlines()[0] for name in guide.CHAPTERS)
    for page in PAGES:
        for view in page.views:
            assert re.search(rf"^# Page: {page.title}(, .*)?$", titles, re.MULTILINE), page.title
            assert re.search(rf"^# Page: .*{view.switch or view.title}$", titles, re.MULTILINE)


def test_options_chapter_matches_the_parser():
    written = resource_path("help", "options.md").read_text(encoding="utf-8")
    assert written == load_docs().options_chapter(), "run packaging/docs --options"
    assert all(f"## {name}\n" in written for name in COMMANDS)


@pytest.mark.parametrize("key", METHODS)
def test_every_method_has_a_chapter(key):
    text = guide.method_page(key)
    method = METHODS[key]
    for words in (method.summary, method.use_when, method.weights_words(), "Minimises", "per fit"):
        assert words in text
    helps = [declared.help.replace("|", "\\|") for declared in declared_params(method).values()]
    assert all(words in text for words in helps)
    assert text.count("`") % 2 == 0


def test_evidence_names_known_methods():
    evidence = tomllib.loads(resource_path("help", "evidence.toml").read_text(encoding="utf-8"))
    assert set(evidence) <= set(METHODS)
    assert {kind for texts in evidence.values() for kind in texts} == {"papers", "measured"}
    areas = json.loads(resource_path("help", "measured.json").read_text(encoding="utf-8"))
    assert set(areas) <= set(METHODS)
    assert evidence["svm-pauc"]["papers"] in guide.method_page("svm-pauc")
    assert f"| {areas['svm-pauc']['auc']:.1f} |" in guide.page("methods-compared")


def test_every_picture_exists_in_both_themes():
    shown = re.findall(r"\]\(pictures/(.+?)-light\.png\)", guide.page("manual"))
    stored = {path.stem for path in resource_path("help", "pictures").glob("*.png")}
    assert {f"{name}-{theme}" for name in shown for theme in ("light", "dark")} == stored


def test_the_glossary_is_short_and_sorted():
    terms = re.findall(r"^\*\*(.+?)\*\*", guide.page("glossary"), flags=re.MULTILINE)
    assert len(terms) <= MOST_TERMS
    assert terms == sorted(terms, key=str.lower)


def test_the_site_has_a_page_for_each_chapter_and_method(tmp_path):
    pytest.importorskip("markdown")
    load_docs().write_site(tmp_path)
    names = {path.stem for path in tmp_path.glob("*.html")}
    assert {"index", *guide.CHAPTERS, *(f"method-{key}" for key in METHODS)} <= names
    for link in re.findall(r'(?:href|src)="([^":#]+)"', (tmp_path / "index.html").read_text()):
        assert (tmp_path / link).is_file()
    assert "<table>" in (tmp_path / "formats.html").read_text(encoding="utf-8")
