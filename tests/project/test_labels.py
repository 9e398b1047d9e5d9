"""Labels: one or several classes against the rest, joined spellings, numeric thresholds."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucstudio import cli
from aucstudio.project.data.columns import Column
from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.labels import LabelRule, Threshold
from aucstudio.project.data.schema import Schema
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import read_study, write_study
from aucstudio.project.runs.planning import plan_on
from aucstudio.project.runs.scoring import score_file
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file

RANDOM = np.random.default_rng(5)
LEVELS = ("yes", "Yes", "no", "NO", "maybe", "")


@pytest.fixture
def answers(tmp_path):
    """Write 240 rows whose label has five spellings and missing values."""
    answer = [LEVELS[k % len(LEVELS)] for k in range(240)]
    grade = [k % 9 for k in range(240)]
    path = tmp_path / "answers.csv"
    lines = [f"{RANDOM.normal():.4f},{a},{g}" for a, g in zip(answer, grade, strict=True)]
    path.write_text("\n".join(["x,answer,grade", *lines]))
    return path


@pytest.fixture(params=["memory", "disk"])
def read(request):
    opened = []

    def reading(*args, **how):
        if request.param == "memory":
            return read_table(*args, **how)
        opened.append(open_stream(*args, **how))
        return opened[-1]

    yield reading
    for table in opened:
        table.close()


def answer_of(path):
    return [line.split(",")[1] for line in path.read_text().splitlines()[1:]]


# ------------------------------------------------------------------ the rule


values = st.lists(st.sampled_from(["a", "A", "b", "c", "b or c", None]), min_size=1, max_size=30)


@settings(deadline=None)
@given(values, st.sampled_from([(), (("a", "A"),)]), st.sampled_from([(), ("b", "c"), ("a", "c")]))
def test_label_rule_matches_a_loop_over_the_rows(cells, same, together):
    rule = LabelRule(same).joining(together, cells) if together else LabelRule(same)
    counts = Counter(cell for cell in cells if cell is not None)
    expected = Counter()
    for cell, count in counts.items():
        name = "a" if same and cell in same[0] else cell
        expected[rule.name if name in together else name] += count
    assert rule.classes(counts) == expected
    array = np.array(cells, dtype=object)
    column = Column.of_cells("y", array, cells.count(None), len(counts))
    for name, count in expected.items():
        assert rule.marks(column, name).sum() == count


@settings(deadline=None)
@given(
    st.sampled_from([">=", ">", "<=", "<"]),
    st.floats(-5, 5).map(lambda v: round(v, 1)),
    st.lists(st.sampled_from([-5.0, -0.5, 0.0, 0.3, 2.0, 5.0, float("nan")]), min_size=1),
)
def test_threshold_splits_numbers_and_skips_missing_ones(sign, at, cells):
    threshold = Threshold.read(f" {sign}{at} ")
    rule = LabelRule(threshold=threshold)
    column = Column.of_cells("y", np.array(cells), 0, 0)
    expected = [eval(f"{cell} {sign} {at}") if cell == cell else False for cell in cells]
    assert rule.marks(column, threshold.name).tolist() == expected
    other = [cell == cell and not marked for cell, marked in zip(cells, expected, strict=True)]
    assert rule.marks(column, threshold.other).tolist() == other


@pytest.mark.parametrize("text", ["5", ">=", "> x", ">= nan", "> inf", ">50K", "=> 5", ""])
def test_invalid_threshold_text_is_rejected(text):
    assert Threshold.read(text) is None


# ------------------------------------------------------------------ tables


def test_several_classes_are_compared_with_the_rest(answers, read):
    table = read(answers, label="answer", positive=["yes", "Yes", "maybe"])
    assert table.positive == "Yes or maybe or yes"
    assert table.classes == {"NO": 40, "Yes or maybe or yes": 120, "no": 40}
    assert table.unlabelled == 40
    expected = [a in ("yes", "Yes", "maybe") for a in answer_of(answers) if a]
    assert table.is_positive().tolist() == expected


def test_spellings_are_merged_automatically_or_as_listed(answers, read):
    table = read(answers, label="answer", merge=True)
    assert table.classes == {"NO": 80, "Yes": 80, "maybe": 40}
    listed = read(answers, label="answer", merge=[["no", "NO", "maybe"]], positive="no")
    assert listed.classes == {"Yes": 40, "no": 120, "yes": 40}
    expected = [a in ("no", "NO", "maybe") for a in answer_of(answers) if a]
    assert listed.is_positive().tolist() == expected


def test_merged_spelling_selects_its_class(answers, read):
    table = read(answers, label="answer", merge=True, positive=["yes", "maybe"])
    assert table.classes == {"NO": 80, "Yes or maybe": 120}
    assert table.positive == "Yes or maybe"


def test_numeric_label_is_split_by_a_threshold(answers, read):
    table = read(answers, label="grade", positive=">= 6")
    grades = [k % 9 for k in range(240)]
    assert table.positive == ">= 6"
    assert table.classes == {">= 6": sum(g >= 6 for g in grades), "< 6": sum(g < 6 for g in grades)}
    assert table.is_positive().tolist() == [g >= 6 for g in grades]
    other = table.with_roles(positive="< 6")
    assert other.is_positive().tolist() == [g < 6 for g in grades]
    assert other.rule == LabelRule(threshold=Threshold("<", 6.0))


def test_label_of_many_numbers_needs_a_threshold(tmp_path, read):
    path = tmp_path / "many.csv"
    path.write_text("a,amount\n" + "\n".join(f"{k % 7},{k}.5" for k in range(3000)))
    with pytest.raises(InputError, match="a cut point such as >= 5"):
        read(path, label="amount")
    assert read(path, label="amount", positive="> 2000").classes == {
        "> 2000": 1000,
        "<= 2000": 2000,
    }


def test_invalid_label_choices_are_refused_with_a_reason(answers):
    table = read_table(answers, label="answer")
    with pytest.raises(InputError, match="no class 'perhaps'"):
        table.with_roles(positive=["yes", "perhaps"])
    with pytest.raises(InputError, match="two classes: keep one"):
        table.with_roles(merge=[["yes", "Yes"], ["Yes", "no"]])
    with pytest.raises(InputError, match="one class only"):
        table.with_roles(positive=["yes", "Yes", "no", "NO", "maybe"])
    with pytest.raises(InputError, match="one class only"):
        read_table(answers, label="grade", positive="> 100")
    with pytest.raises(InputError, match="no class '>= 5'"):
        table.with_roles(positive=">= 5")


def test_class_named_like_a_threshold_or_joined_classes_is_kept(tmp_path):
    path = tmp_path / "odd.csv"
    rows = [">=5", "a", "b", "a or b"] * 10
    path.write_text("x,y\n" + "\n".join(f"{k},{value}" for k, value in enumerate(rows)))
    table = read_table(path, label="y", positive=">=5")
    assert (table.positive, table.classes[">=5"]) == (">=5", 10)
    several = table.with_roles(positive=["a", "b"])
    assert several.classes == {">=5": 10, "a or b′": 20, "a or b": 10}
    assert several.is_positive().sum() == 20


def test_label_rule_is_reset_only_by_another_label(answers):
    table = read_table(answers, label="answer", merge=True, positive="yes")
    assert table.with_roles(ignore=["x"]).classes == table.classes
    assert table.with_roles(label="grade", positive="3").rule == LabelRule()


def test_merging_spellings_keeps_the_positive_class(answers):
    table = read_table(answers, label="answer", positive="yes")
    merged = table.with_roles(merge=True)
    assert merged.positive == "Yes"
    # The positive rows are unchanged.
    parted = merged.with_roles(merge=False)
    assert parted.classes == {"NO": 40, "Yes or yes": 80, "maybe": 40, "no": 40}
    assert parted.is_positive().tolist() == merged.is_positive().tolist()


# ------------------------------------------------------------------ storage and commands


def planned(table):
    return plan_on(table, "auc-rls", {}, Validation(test_size=0.5), (0.0, 0.1))


CHOICES = [
    {"label": "answer", "positive": ["yes", "maybe"]},
    {"label": "answer", "positive": "yes", "merge": True},
    {"label": "answer", "positive": ["yes", "maybe"], "merge": True},
    {"label": "grade", "positive": ">= 6"},
]


@pytest.mark.parametrize("choice", CHOICES)
def test_label_rule_is_stored_in_experiment_and_model(answers, tmp_path, choice):
    table = read_table(answers, **choice)
    experiment = planned(table)
    again = Experiment.from_json(json.loads(json.dumps(experiment.as_json())))
    assert again == experiment
    assert again.id == experiment.id
    opened = again.data.open()
    assert (opened.classes, opened.positive, opened.rule) == (
        table.classes, table.positive, table.rule,
    )  # fmt: skip
    assert again.data.seen(read_table(answers)).classes == table.classes
    # exported as an experiment file, and read from there
    file = write_file(tmp_path / "study.toml", write_study([experiment], tmp_path))
    (found,) = read_study(file).experiments
    assert found.id == experiment.id
    # trained, saved, and scored with the label in the file
    record = execute(experiment, table)
    model = record.splits[0].model
    assert model.positive == table.positive
    save_model(model, tmp_path / "model.aucmodel")
    scores = []
    report = score_file(
        load_model(tmp_path / "model.aucmodel"), answers, lambda _n, _c, s: scores.extend(s)
    )
    positive, marked = table.is_positive(), np.array(scores)[table.labelled()]
    pairs = marked[positive][:, None] - marked[~positive][None, :]
    assert report.auc.value == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)))
    assert report.scored == 240  # rows without a label among them


def test_only_label_rules_change_the_experiment_id(answers):
    plain = planned(read_table(answers, label="answer", positive="yes"))
    merged = planned(read_table(answers, label="answer", positive="yes", merge=[["yes", "Yes"]]))
    assert "classes" not in plain.data.identity()
    assert plain.id != merged.id
    assert plain.rows_of() != merged.rows_of()
    assert "rule" not in json.dumps(plain.data.schema.as_json())
    assert Schema.from_json(merged.data.schema.as_json()).rule == merged.data.rule


def test_classes_of_a_test_file_are_joined_like_in_training(answers, tmp_path):
    test = tmp_path / "test.csv"
    test.write_text("x,answer,grade\n" + "1,yes,2\n2,Yes,3\n0,no,1\n3,NO,1\n" * 5)
    status = cli.main(
        ["train", str(answers), "--method", "auc-rls", "--label", "answer", "--merge-spellings",
         "--positive", "yes", "--ignore", "grade", "--test-file", str(test), "--quiet"]
    )  # fmt: skip
    assert status == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--positive", "yes", "--positive", "maybe"], "positive class maybe or yes: 80 of 200"),
        (["--positive", "yes", "--merge-spellings"], "positive class Yes: 80 of 200 rows"),
    ],
)
def test_command_joins_classes_and_reports_it(answers, capsys, words, sentence, printed):
    common = [str(answers), "--label", "answer", *words]
    assert cli.main(["train", *common, "--method", "auc-rls", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert sentence in out
    assert "40 rows left out" in out
    document = printed("inspect", *common)
    assert sum(document["classes"].values()) == 200
    assert document["unlabelled"] == 40


def test_threshold_on_a_text_label_is_refused(answers, refused):
    assert "no class '>= 5'" in refused(
        "inspect", answers, "--label", "answer", "--positive", ">= 5"
    )


@pytest.mark.parametrize(
    ("yes", "no"), [("ja", "nein"), ("oui", "non"), ("да", "нет"), ("はい", "いいえ"), ("是", "否")]
)
def test_yes_is_positive_in_balanced_labels_in_any_language(tmp_path, yes, no):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{k}.5,{(yes, no)[k % 2]}\n" for k in range(8)), "utf-8")
    assert read_table(path).positive == yes
