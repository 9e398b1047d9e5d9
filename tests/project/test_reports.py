"""Reports and model cards: HTML and Markdown pages of stored runs."""

import dataclasses
import re
from html.parser import HTMLParser

import markdown
import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.project.data.findings.find import find
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.comparison import (
    PAUC,
    compare_runs,
    measure_words,
    pair_headline,
    rows_words,
)
from aucstudio.project.results.documents import named_runs
from aucstudio.project.results.leaks import leaks_used
from aucstudio.project.results.page import (
    BulletList,
    Code,
    Heading,
    Paragraph,
    Picture,
    TextTable,
    as_html,
    as_markdown,
)
from aucstudio.project.results.report import write_report
from aucstudio.project.results.summary import pauc_summary
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.study import open_study

HOSTILE = "a|b <script>alert(1)</script> *c* `d` [e](f) #g"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="1mm" height="1mm"/>'
BLOCKS = [
    Heading(HOSTILE),
    Paragraph(HOSTILE),
    BulletList([HOSTILE, "second"]),
    TextTable(("Run", HOSTILE), [(HOSTILE, "0.5")]),
    Picture(HOSTILE, SVG),
    Code("```\n<b>\n```"),
]


class Texts(HTMLParser):
    """Collect the tags and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["x,z,site,label"]
    lines += [
        f"{(k * 37) % 101},{(k * 53) % 89},{'north' if k % 3 else 'south'},"
        f"{int((k * 37) % 101 + (k * 29) % 40 > 80)}"
        for k in range(240)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    train = ["train", "t.csv", "--label", "label", "--fpr-range", "0,0.2", "--project", "s.aucproj"]
    for method in ("logistic", "rls"):
        assert main([*train, "--method", method]) == 0
    return tmp_path / "s.aucproj"


@pytest.mark.parametrize("write", [as_html, as_markdown])
def test_user_texts_are_escaped(write):
    page = write(HOSTILE, BLOCKS)
    if write is as_markdown:
        page = markdown.markdown(page, extensions=["tables", "fenced_code"])
    found = Texts(page)
    assert "script" not in [tag for tag, _ in found.tags]
    assert not [attrs for tag, attrs in found.tags if tag == "a"]
    assert found.text.count(HOSTILE) >= 5
    (image,) = [attrs for tag, attrs in found.tags if tag == "img"]
    assert image["src"].startswith("data:image/svg+xml;base64,")


@pytest.mark.parametrize("name", ["r.html", "r.md"])
def test_report_contains_measures_differences_and_experiment(project, tmp_path, name):
    study = open_study(project)
    study.report(tmp_path / name)
    page = (tmp_path / name).read_text(encoding="utf-8")
    for run in study.runs():
        assert f"{run['auc']:.3f}"[1:] in page
    assert "Holm" in page
    code = re.search(r"(?:<pre><code>|```\n)(.*?)(?:</code></pre>|```)", page, re.DOTALL)
    text = code.group(1).replace("&quot;", '"')
    (tmp_path / "again.toml").write_text(text)
    assert main(["run", "again.toml", "--project", "again.aucproj"]) == 0
    assert list(open_study("again.aucproj").runs()["auc"]) == list(study.runs()["auc"])


def test_report_states_methods_groups_warnings_and_absent_columns(project, tmp_path):
    lines = (tmp_path / "t.csv").read_text().splitlines()
    named = [f"{line},m{k % 40}" for k, line in enumerate(lines[1:])]
    (tmp_path / "g.csv").write_text("\n".join([f"{lines[0]},machine", *named]) + "\n")
    train = ["train", "g.csv", "--label", "label", "--fpr-range", "0,0.2", "--folds", "4"]
    train += ["--group", "machine", "--project", "g.aucproj"]
    assert main([*train, "--method", "svm-pauc"]) == 0
    assert main([*train, "--method", "svm-pauc", "--ignore", "z", "--set", "fpr_range=0,0.5"]) == 0
    open_study("g.aucproj").report(tmp_path / "g.md")
    page = (tmp_path / "g.md").read_text(encoding="utf-8")
    assert "of AUC and pAUC by curves drawn for each fold and averaged" in page
    assert "Whole values of machine were sampled" in page
    assert re.search(r"about \d+ held-out negatives per fold", page)
    assert "Trained for FPR 0 … 0.5, not for the range shown, 0 … 0.2" in page
    assert "without z" in page
    open_study(project).report(tmp_path / "one.md")
    page = (tmp_path / "one.md").read_text(encoding="utf-8")
    assert "per fold" not in page
    assert "sampled" not in page
    assert "of AUC and pAUC by curves drawn from the order of the held-out rows" in page


def test_report_states_tests_counts_and_decisions_of_each_validation(project, tmp_path):
    train = ["train", "t.csv", "--label", "label", "--fpr-range", "0,0.2", "--ignore", "z"]
    for how in (["--test-size", "0.25"], ["--folds", "4"]):
        for method in ("auc-rls", "logistic"):
            assert main([*train, *how, "--method", method, "--project", "two.aucproj"]) == 0
    open_study("two.aucproj").report(tmp_path / "two.md")
    page = (tmp_path / "two.md").read_text(encoding="utf-8")
    assert re.search(r" \d+ held-out negatives \(hold-out 25 %, seed 0\)", page)
    assert re.search(r"about \d+ held-out negatives per fold \(4 folds, seed 0\)", page)
    assert "by a paired test of the components of the pAUCs; those of runs with several" in page
    assert page.count("ignored columns: z;") == 2
    open_study(project).report(tmp_path / "one.md")
    assert "resampled" not in (tmp_path / "one.md").read_text(encoding="utf-8")


def test_report_names_a_run_without_a_finished_split(table, plan, tmp_path):
    done = execute(plan(), table)
    stopped = dataclasses.replace(done, splits=(), status="stopped")
    write_report(tmp_path / "r.md", {"A": done, "B": stopped}, (0.0, 0.2), {})
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "B was stopped before a split was finished" in page


def test_counts_of_a_report_are_those_at_the_end_of_the_range(project, tmp_path):
    named, band = named_runs(project)
    (name, record), *_ = named
    (split,) = record.splits
    write_report(tmp_path / "r.md", {name: record}, band, {})
    page = (tmp_path / "r.md").read_text(encoding="utf-8")
    (found,) = re.findall(r"\| 0.2 ((?:\| \d+ ){4})\|", page)
    tp, fn, fp, tn = map(int, found.replace("|", " ").split())
    assert (tp + fn, fp + tn) == (split.test_positive.sum(), (~split.test_positive).sum())
    assert fp == int(0.2 * (fp + tn))
    lowest = np.sort(split.test_scores[~split.test_positive])[-1 - fp]
    assert tp == (split.test_scores[split.test_positive] > lowest).sum()
    write_report(tmp_path / "r.md", {name: record}, (0.0, 1.0), {})
    assert "TP" not in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_leak_is_reported_of_runs_with_its_column(tmp_path):
    random = np.random.default_rng(0)
    y = random.random(300) < 0.3
    lines = [f"{x:.3f},{t},{int(t)}" for x, t in zip(random.normal(size=300), y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x,copy,label", *lines]) + "\n")
    table = read_table(tmp_path / "t.csv", label="label")
    without = table.with_roles(ignore=["copy"])
    runs = {}
    for name, used in (("all", table), ("clean", without)):
        reference = DataReference.to_table(used)
        runs[name] = execute(plan_experiment(reference, "logistic", {}, Validation()), used)
    for present in (table, without):  # what the run used counts, not what the next one would
        (leak,) = leaks_used(runs["all"].experiment.data, present)
        assert leak.code == "trained_on_leak"
        assert "copy" in str(leak)
        assert leaks_used(runs["clean"].experiment.data, present) == []
    assert leaks_used(runs["all"].experiment.data, None) == []
    for given in (without, None):  # a table that is not open is read again
        write_report(tmp_path / "r.md", runs, (0.0, 0.1), {}, given)
        page = (tmp_path / "r.md").read_text(encoding="utf-8")
        assert f"all: {leak}" in page
        assert "# Data" in page


def test_model_card_has_all_sections(project, tmp_path):
    train = ["train", "t.csv", "--label", "label", "--project", str(project), "--tune", "auc"]
    assert main([*train, "--method", "auc-rls"]) == 0
    open_study(project).model_card("AUC-RLS, tuned", tmp_path / "tuned.md")
    assert re.search(r"tuned: λ.=.\d", (tmp_path / "tuned.md").read_text(encoding="utf-8"))
    card = ["--model-card", "Logistic regression", "card.md"]
    assert main(["compare", str(project), "--by", "site", *card]) == 0
    page = (tmp_path / "card.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert heads[:3] == ["Model", "Data and validation", "Performance on held-out rows"]
    assert "3 features: x, z, site." in page
    assert "Results by site" in heads
    assert {"Calibration", "Limits"} <= set(heads)
    assert re.search(r"\| north \| \d+ \| \d+ \| 0?\.\d+", page)


def test_model_card_of_an_unknown_run_or_column_is_refused(project, tmp_path):
    study = open_study(project)
    with pytest.raises(InputError) as refused:
        study.model_card("nothing", tmp_path / "card.md")
    assert "nothing" in str(refused.value)
    with pytest.raises(InputError):
        study.model_card(study.runs()[0]["name"], tmp_path / "card.md", by=["absent"])
    assert not (tmp_path / "card.md").exists()


def test_report_begins_with_the_conclusion_and_lists_the_best_run_first(project, tmp_path):
    named, band = named_runs(project)
    records, table = dict(named), read_table("t.csv", label="label")
    order = sorted(records, key=lambda name: -pauc_summary(records[name], band).value)
    write_report(tmp_path / "r.md", {name: records[name] for name in order[::-1]}, band, {}, table)
    page = (tmp_path / "r.md").read_text()
    rows = re.findall(r"^\| ([^|]*?) \|", page[page.index("# Results") :], re.MULTILINE)
    assert [row for row in rows if row in order][: len(order)] == order
    (pair,) = compare_runs([(name, records[name]) for name in order], band, PAUC)
    words = measure_words(PAUC, band), rows_words(records[order[0]])
    conclusion = pair_headline(pair, *words)
    assert page.index(conclusion) < page.index("# Data") < page.index("# Results")
    findings = [one.sentence for one in find(table)]
    assert all(one[1:] in page for one in findings)
