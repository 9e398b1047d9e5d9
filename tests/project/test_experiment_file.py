"""Experiment files: written files are read back, and mistakes are named."""

import copy
import dataclasses
import datetime
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from aucstudio.engine import METHODS
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import auc_summary
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.work.submit import open_place, run_experiments
from tests.conftest import write_file

CASES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

SMALL = """
[data]
file = "study.csv"
[validation]
scheme = "folds"
folds = 2
[[runs]]
method = "auc-rls"
settings = { kernel = "rbf", gamma = "scale" }
[[runs]]
method = "auc-svm"
settings = { C = 1, n_neighbors = "none" }
"""


@pytest.fixture
def write(tmp_path, table_file):
    def put(text):
        return write_file(tmp_path / "experiment.toml", text)

    return put


@pytest.mark.parametrize("method", [key for key in METHODS if not METHODS[key].as_given])
def test_experiment_file_round_trips(plan, table, tmp_path, method):
    experiment = dataclasses.replace(plan(method), band=(0.02, 0.3), tuning=Tuning("auc", seed=0))
    path = write_file(tmp_path / "one.toml", write_study([experiment], tmp_path))
    (again,) = read_study(path).experiments
    assert again == experiment
    assert again.id == experiment.id


def test_handwritten_file_is_read(write):
    study = read_study(write(SMALL))
    first, second = study.experiments
    assert first.params["kernel"] == "rbf"
    assert second.params["n_neighbors"] is None
    assert second.params["C"] == 1.0
    assert study.table.label == "outcome"
    assert first.validation.folds == 2


def test_method_uses_the_fpr_range_of_the_file(write):
    text = SMALL.replace('"auc-rls"', '"svm-pauc"').replace('"rbf", gamma = "scale"', '"linear"')
    study = read_study(write("fpr_range = [0.1, 0.3]\n" + text))
    assert study.experiments[0].params["fpr_range"] == (0.1, 0.3)
    assert study.experiments[0].band == (0.1, 0.3)


def test_data_path_is_relative_to_the_experiment_file(plan, table_file, tmp_path):
    text = write_study([plan("auc-rls")], table_file.parent)
    assert 'file = "study.csv"' in text
    other = tmp_path / "elsewhere"
    other.mkdir()
    assert 'file = "../study.csv"' in write_study([plan("auc-rls")], other)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        *CASES["mistakes"],
        (("folds = 2", f"test_size = 1{'0' * 400}"), "must be a finite number"),
        (("folds = 2", f"folds = 1{'0' * 400}"), "validation.folds must be a finite number"),
        (("C = 1", f"C = 1{'0' * 400}"), "[[runs]] number 2, settings.C must be"),
        (("C = 1", f"C = 0x{'f' * 5000}"), "settings.C must be a finite number"),
        (("C = 1", f"a{'.a' * 900} = 1"), "a key has more than 100 parts"),
        (("[data]", f"format = {'9' * 5000}\n[data]"), "not valid TOML"),
        (("[data]", f"views = {'[' * 4000}\n[data]"), "not valid TOML"),
        (("[data]", f"a{'.a' * 4000} = 1\n[data]"), "a key has more than 100 parts"),
    ],
)
def test_mistakes_are_refused_with_their_place(write, change, words):
    with pytest.raises(InputError) as refused:
        read_study(write(SMALL.replace(*change, 1)))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("given", "scheme"), CASES["schemes"])
def test_validation_scheme_is_inferred_from_its_settings(write, given, scheme):
    study = read_study(write(SMALL.replace('scheme = "folds"\nfolds = 2', given)))
    assert study.experiments[0].validation.scheme == scheme


def test_byte_order_mark_is_accepted(write):
    path = write("\ufeff" + SMALL)
    assert len(read_study(path).experiments) == 2


def test_runs_on_different_rows_need_two_files(plan, tmp_path):
    with pytest.raises(InputError, match="one table"):
        write_study([plan("auc-rls"), plan("auc-rls", seed=3)], tmp_path)


@pytest.mark.slow
def test_several_processes_return_the_same_numbers(write, tmp_path):
    study = read_study(write(SMALL))
    project = tmp_path / "both.aucproj"
    with open_place(jobs=2) as place:
        outcomes = run_experiments(study.plans, place, project)
    for outcome, experiment in zip(outcomes, study.experiments, strict=True):
        record, alone = outcome.record, execute(experiment, study.table)
        assert auc_summary(record).per_split == auc_summary(alone).per_split
    assert {r.id for r in ProjectFile.open(project).runs()} == {e.id for e in study.experiments}


HOSTILE = [
    None, True, -1, 0, 2.5, 10**30, float("nan"), float("-inf"), "", "\0", "x" * 200, "<b>",
    [], [[]], [1, "a"], {}, {"a": {"b": []}}, {"": ""}, datetime.date(2020, 1, 1),
    datetime.time(1, 2), "..", "/dev", "none", "auto", 10**400, [float("inf"), 1.0],
]  # fmt: skip


def places(value, steps=()):
    """Yield the path of every item in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*steps, key)
        if isinstance(item, dict | list):
            yield from places(item, (*steps, key))


def damaged(rng):
    """Return an experiment file that is damaged in one to three places."""
    document = tomllib.loads("fpr_range = [0.0, 0.2]\nviews = ['roc_view']\n" + SMALL)
    document["data"] |= {"label": "outcome", "positive": "yes", "roles": {"town": "ignore"}}
    document["runs"][0] |= {"tune": "auc", "roles": {"x0": "ignore"}}
    for _ in range(rng.integers(1, 4)):
        *path, last = list(places(document))[rng.integers(len(list(places(document))))]
        parent = document
        for step in path:
            parent = parent[step]
        hostile = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
        kind = rng.integers(4)
        if kind == 0 or hostile is None:
            del parent[last]
        elif kind == 1 and isinstance(parent, dict):
            parent[str(hostile)[:20]] = hostile
        else:
            parent[last] = hostile
    text = tomli_w.dumps(document)
    if rng.random() < 0.3:
        place, length = rng.integers(len(text)), rng.integers(1, 9)
        junk = rng.choice(list("[]{}=.'\"\n#\\\x07é0,"), length)
        text = text[:place] + "".join(junk) + text[place + rng.integers(3) :]
    return text


@pytest.mark.slow
def test_damaged_files_are_refused_with_a_short_error(write, table):
    path = write("")

    def read(wanted, *, dialect, **seen):
        if wanted == str(path.parent / "study.csv"):
            return table.with_roles(**seen)
        return read_table(wanted, dialect=dialect, **seen)

    rng, read_well = np.random.default_rng(0), 0
    for _ in range(500):
        text = damaged(rng)
        path.write_text(text, encoding="utf-8")
        try:
            read_study(path, lambda *_: read)
            read_well += 1
        except InputError as refused:
            sentence = str(refused)
            assert sentence, text
            assert "\n" not in sentence, text
            assert len(sentence) < 2000, text
    assert 10 < read_well < 250


def test_binary_file_is_refused(write):
    path = write("")
    path.write_bytes(b"\xff\xfe\x00[data]")
    with pytest.raises(InputError, match="not valid TOML"):
        read_study(path)
