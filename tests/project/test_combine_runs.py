"""Combinations of finished runs: no refit, estimates on rows not used for the weights."""

import dataclasses
import json

import numpy as np
import pytest

from aucstudio import cli
from aucstudio.engine import roc
from aucstudio.engine.ensembles.combined import Scale
from aucstudio.engine.ensembles.selection import Criterion, choose_weights
from aucstudio.project.combination import combining, member_scores
from aucstudio.project.combination.combining import Combining, combine_runs, refit_combination
from aucstudio.project.combination.planning import plan_combination, why_not
from aucstudio.project.combination.preparations import common_preparation
from aucstudio.project.data.preparing.preparation_choice import PreparationChoice
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute, refit
from aucstudio.project.runs.experiment import MARKER
from aucstudio.project.runs.experiment_file import command_line
from aucstudio.project.runs.planning import PlannedRun, plan_on, scored_by
from aucstudio.project.runs.scoring import scores_of
from aucstudio.project.store.export import export_model
from aucstudio.project.store.model_file import load_model, save_model
from aucstudio.project.store.project.project_file import ProjectFile
from aucstudio.project.work.submit import run_experiments
from tests.project.test_export import graph_scores, load

BAND = (0.0, 0.2)
FOLDS, HELD_OUT = Validation(scheme="folds", folds=3), Validation(test_size=0.4)


def write(path, rows=150, seed=0, sites=0):
    rng = np.random.default_rng(seed)
    lines = ["a,b,kind,marker,site,y"]
    for k in range(rows):
        a, b = rng.normal(size=2)
        y = a + abs(b) + rng.normal() > 1
        b = "" if k % 9 == 0 else f"{b:.4f}"
        marker = "" if k % 11 == 0 else f"{1e3 + a + rng.normal():.4f}"
        lines.append(f"{a:.4f},{b},{'uvw'[k % 3]},{marker},s{k % (sites or rows)},{int(y)}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = write(tmp_path_factory.mktemp("combine") / "t.csv")
    return read_table(path, label="y", positive="1", roles={"marker": "ignore", "site": "ignore"})


def made(table, method, validation, settings=None, **more):
    experiment = plan_on(table, method, settings or {}, validation, BAND, **more)
    return execute(experiment, table)


def members(table, validation):
    runs = [
        ("linear", made(table, "auc-rls", validation)),
        ("trees", made(table, "gradient-boosting", validation, {"max_iter": 20})),
        ("forest", made(table, "random-forest", validation, {"n_trees": 10})),
        ("kernel", made(table, "kernel-rank-svm", validation)),
        ("marker", made(scored_by(table, "marker"), MARKER, validation)),
    ]
    assert not any(record.error for _, record in runs)
    return runs


@pytest.fixture(scope="module")
def in_folds(table):
    return members(table, FOLDS)


@pytest.fixture(scope="module")
def held_out(table):
    return members(table, HELD_OUT)


def combined(runs, **more):
    return combine_runs(plan_combination(runs, BAND, BAND), runs, **more)


def with_splits(run, change, only=slice(None)):
    """Return a run with changes of some of its splits."""
    name, record = run
    splits = list(record.splits)
    splits[only] = [dataclasses.replace(split, **change(split)) for split in splits[only]]
    return name, dataclasses.replace(record, splits=tuple(splits))


def flipped(split):
    return {"test_positive": ~split.test_positive}


def weighted_by(weights):
    """Return a change that gives rows of the table these weights."""
    return lambda split: {
        "train_weights": weights[split.train_rows],
        "test_weights": weights[split.test_rows],
    }


@pytest.mark.slow
def test_combination_in_folds_is_an_ordinary_run(table, in_folds):
    record = combined(in_folds)
    assert record.status == "done"
    assert len(record.splits) == 3
    for split, linear, marker in zip(
        record.splits, in_folds[0][1].splits, in_folds[-1][1].splits, strict=True
    ):
        # The marker run excluded rows without a value.
        np.testing.assert_array_equal(split.test_rows, np.sort(marker.test_rows))
        assert len(split.test_rows) < len(linear.test_rows)
        scores = scores_of(split.model, table)
        np.testing.assert_allclose(scores[split.test_rows], split.test_scores, rtol=1e-9)
        np.testing.assert_allclose(scores[split.train_rows], split.train_scores, rtol=1e-9)
        shares = split.model.scorer.members
        assert {share.title for share in shares} == {name for name, _ in in_folds}
        assert sum(share.weight for share in shares) == pytest.approx(1.0)


@pytest.mark.slow
def test_combination_model_refits_members_on_all_rows(table, in_folds):
    record = combined(in_folds)
    messages = []
    model = refit_combination(record.experiment, in_folds, table, messages.append)
    assert {m.splits for m in messages if m.fit_of != "member"} == {1}  # weights of no single split
    refits = [(m.split, m.splits) for m in messages if m.fit_of == "member"]
    assert [k for k, _ in refits] == sorted(k for k, _ in refits)
    assert {count for _, count in refits} == {len(in_folds)}
    assert 0 < refits[-1][0] < len(in_folds)
    assert model.trained_on == f"all {table.rows} labelled rows of t.csv"
    scores, mean = scores_of(model, table), np.zeros(table.rows)
    assert sum(share.weight for share in model.scorer.members) == pytest.approx(1.0)
    # Each member alone, on the mean of the scales of its splits.
    for name, run in in_folds:
        (share,) = (share for share in model.scorer.members if share.title == name)
        alone = refit(run.experiment, table)
        raw = scores_of(alone, table) - alone.intercept
        scales = [a_scale(split, record.splits[k]) for k, split in enumerate(run.splits)]
        smoothing = scales[0].smoothing
        shift, spread = np.mean([(one.shift, one.spread) for one in scales], axis=0)
        mean += share.weight * Scale(smoothing, shift, spread)(raw)
    np.testing.assert_allclose(scores, mean + model.intercept, rtol=1e-9, atol=1e-9)
    held = np.concatenate([split.test_scores for split in record.splits])
    rows = np.concatenate([split.test_rows for split in record.splits])
    assert np.corrcoef(scores[rows], held)[0, 1] > 0.8


def a_scale(split, tested):
    """Return the scale of a member on the rows that all members held out."""
    own = split.test_scores[np.isin(split.test_rows, tested.test_rows)] - split.model.intercept
    return Scale.learn(own, 0.1 if split.model.method == "random-forest" else 0.0)


def test_weights_of_a_split_are_chosen_on_the_other_splits(in_folds):
    record = combined(in_folds)
    ordered = sorted(in_folds, key=lambda run: run[1].experiment.id)
    z, positive = [], []
    for k, split in enumerate(record.splits):
        of_members = []
        for _, member in ordered:
            own = member.splits[k]
            place = {row: at for at, row in enumerate(own.test_rows)}
            raw = own.test_scores[[place[row] for row in split.test_rows]]
            raw = raw - own.model.intercept
            if own.model.method == "random-forest":
                raw = np.log((raw + 0.1) / (1.1 - raw))
            of_members.append((raw - raw.mean()) / raw.std())
        z.append(np.array(of_members))
        positive.append(split.test_positive)
    chosen, classes = np.concatenate(z[1:], axis=1), np.concatenate(positive[1:])
    criterion = Criterion.of_range(BAND, classes)
    weights = choose_weights(chosen, classes, criterion, np.random.default_rng((0, 0)))
    members_weights = {share.title: share.weight for share in record.splits[0].model.scorer.members}
    for (name, _), weight in zip(ordered, weights, strict=True):
        assert members_weights[name] == pytest.approx(
            weight, abs=1e-6
        )  # to the tolerance of the solver
    total = weights @ z[0]
    found = record.splits[0].test_scores
    np.testing.assert_allclose(found - found.mean(), total - total.mean(), atol=1e-5)


def test_labels_of_scored_rows_do_not_change_their_scores(in_folds):
    before = combined(in_folds)
    turned = [with_splits(run, flipped, slice(0, 1)) for run in in_folds]
    after = combined(turned)
    np.testing.assert_array_equal(before.splits[0].test_scores, after.splits[0].test_scores)
    assert not np.array_equal(before.splits[1].test_scores, after.splits[1].test_scores)


def test_forward_splits_use_weights_of_earlier_splits_only(table):
    forward = Validation(scheme="forward", folds=3, time="a")
    runs = [("one", made(table, "auc-rls", forward)), ("two", made(table, "logistic", forward))]
    assert not any(record.error for _, record in runs)
    before = combined(runs)
    weights = [share.weight for share in before.splits[0].model.scorer.members]
    assert weights == [0.5, 0.5]
    assert before.notes[1].code == "combined_on_earlier_splits"
    turned = [with_splits(run, flipped, slice(-1, None)) for run in runs]
    for one, other in zip(before.splits, combined(turned).splits, strict=True):
        np.testing.assert_array_equal(one.test_scores, other.test_scores)


def test_row_weights_affect_the_member_weights(table, in_folds):
    runs, heavy = in_folds[:2], np.ones(table.rows)
    heavy[::5] = 20.0
    plain = combined(runs)
    given = combined([with_splits(run, weighted_by(heavy)) for run in runs])
    for a, b in zip(plain.splits, given.splits, strict=True):
        assert a.test_weights is None
        np.testing.assert_array_equal(b.test_weights, heavy[b.test_rows])
        np.testing.assert_array_equal(b.train_weights, heavy[b.train_rows])
        assert a.objective != b.objective


def test_rows_of_weight_zero_have_no_effect(table, held_out):
    some = np.where(np.arange(table.rows) % 3 == 0, 0.0, 1.0)
    runs = [with_splits(run, weighted_by(some)) for run in held_out[:3]]
    (split,) = combined(runs).splits

    def turned(split):
        return {"test_positive": split.test_positive ^ (some[split.test_rows] == 0)}

    (other,) = combined([with_splits(run, turned) for run in runs]).splits
    np.testing.assert_array_equal(split.test_scores, other.test_scores)
    assert split.objective == other.objective


def test_single_hold_out_is_cross_fitted_in_folds(table, held_out, monkeypatch):
    record = combined(held_out)
    (split,) = record.splits
    alone = {share.title: share.auc for share in split.model.scorer.members}
    assert max(alone.values()) - 0.1 < roc.auc(split.test_positive, split.test_scores) < 1
    scores = scores_of(split.model, table)[split.test_rows]
    assert not np.allclose(scores, split.test_scores)  # the final weights use all rows
    assert np.corrcoef(scores, split.test_scores)[0, 1] > 0.95
    # With a single member the weights are equal, so cross-fitting changes nothing.
    monkeypatch.setattr(member_scores, "choose_weights", lambda z, *_, **_more: np.eye(len(z))[0])
    (split,) = combined(held_out).splits
    scores = scores_of(split.model, table)[split.test_rows]
    np.testing.assert_allclose(scores, split.test_scores, atol=1e-9)


def test_groups_of_a_single_hold_out_are_not_split(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", sites=40)
    table = read_table(path, label="y", positive="1", roles={"site": "group"})
    runs = [("one", made(table, "auc-rls", HELD_OUT)), ("two", made(table, "rankboost", HELD_OUT))]
    plan = plan_combination(runs, BAND, BAND)
    dealt, deal = [], combining.draw_folds

    def watched(positive, codes, *rest):
        dealt.append((codes, deal(positive, codes, *rest)))
        return dealt[-1][1]

    monkeypatch.setattr(combining, "draw_folds", watched)
    ((outcome),) = run_experiments([PlannedRun(plan, table, None)], Combining(runs))
    assert not outcome.record.error
    ((codes, folds),) = dealt
    sites = [table.column("site").values[row] for row in runs[0][1].splits[0].test_rows]
    assert len(set(codes.tolist())) == len(set(sites)) < len(codes)
    for choosing, held in folds:
        assert not {sites[k] for k in choosing} & {sites[k] for k in held}


def noise(path, rows=160, columns=10):
    rng = np.random.default_rng(5)
    cells = np.column_stack([rng.normal(size=(rows, columns)), np.arange(rows) % 5 < 2])
    names = [f"m{j}" for j in range(columns)]
    np.savetxt(path, cells, "%.5f", ",", header=",".join([*names, "y"]), comments="")
    return read_table(path, label="y"), names


def with_classes(runs, positive):
    def changed(split):
        train, test = positive[split.train_rows], positive[split.test_rows]
        return {"train_positive": train, "test_positive": test}

    return [with_splits(run, changed) for run in runs]


@pytest.mark.slow
@pytest.mark.parametrize("validation", [FOLDS, HELD_OUT], ids=["folds", "hold-out"])
def test_combinations_of_noise_centre_on_one_half(tmp_path, validation, monkeypatch):
    table, names = noise(tmp_path / "t.csv")
    higher = {"direction": "higher"}
    runs = [(n, made(scored_by(table, n), MARKER, validation, higher)) for n in names]
    monkeypatch.setattr(member_scores, "choose_weights", few_bags)
    rng, nested, flattered = np.random.default_rng(6), [], []
    for _ in range(25):
        null = with_classes(runs, rng.permutation(table.is_positive()))
        splits = combined(null).splits
        # Splits of one table are not independent.
        nested.append(np.mean([roc.auc(s.test_positive, s.test_scores) for s in splits]))
        flattered.append(np.mean([s.model.scorer.members[0].auc for s in splits]))
    error = np.std(nested, ddof=1) / np.sqrt(len(nested))
    assert abs(np.mean(nested) - 0.5) < 3 * error < 0.06
    assert np.mean(flattered) > 0.5 + 4 * error  # the naive estimate is optimistic


def few_bags(*given, **more):
    return choose_weights(*given[:5], bags=2, **more)


def test_exported_combinations_score_like_the_model(table, held_out, tmp_path):
    (split,) = combined(held_out).splits
    kinds = {part.scorer.kind for part in split.model.scorer.parts}
    assert "viewed" in kinds
    save_model(split.model, tmp_path / "m.aucmodel")
    model = load_model(tmp_path / "m.aucmodel")
    new = read_table(write(tmp_path / "new.csv", 60, seed=7), schema=model.schema)
    scores = model.score(new)
    np.testing.assert_array_equal(scores, split.model.score(new))
    columns = {column.name: list(column.values) for column in new.columns}
    exported = load(model, tmp_path)["score"](columns)
    np.testing.assert_allclose(exported, scores, rtol=1e-9, atol=1e-9)
    graph = graph_scores(model, new, tmp_path)
    np.testing.assert_allclose(graph, scores, rtol=1e-12, atol=1e-12)
    export_model(model, "json", tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert {part["kind"] for part in document["scorer"]["parts"]} == kinds
    assert any(line.startswith("viewed: ") for line in document["how"])


def test_equal_preparations_need_no_view(table):
    runs = [("one", made(table, "auc-rls", FOLDS)), ("two", made(table, "kernel-rank-svm", FOLDS))]
    models = [record.splits[0].model for _, record in runs]
    both = [model.preparation for model in models]
    common, views = common_preparation([name for name, _ in runs], both)
    assert common is models[0].preparation
    assert views == [None, None]


def test_different_scales_are_combined_and_ranks_are_refused(table):
    robust = PreparationChoice(scale="robust", impute="mean")
    runs = [
        ("usual", made(table, "auc-rls", FOLDS)),
        ("robust", made(table, "kernel-rank-svm", FOLDS, preparation=robust)),
    ]
    for split in combined(runs).splits:
        scores = scores_of(split.model, table)
        np.testing.assert_allclose(scores[split.test_rows], split.test_scores, rtol=1e-9)
    ranks = PreparationChoice(scale="quantile")
    runs.append(("ranked", made(table, "auc-rls", FOLDS, preparation=ranks)))
    with pytest.raises(InputError, match="prepares column 'a' differently"):
        combined(runs)


def test_unsuitable_runs_are_refused_by_name(table, in_folds, held_out):
    linear, trees = in_folds[:2]
    assert why_not([linear]).startswith("a combination needs two or more runs")
    assert why_not([linear, ("other", held_out[0][1])]).startswith("other shares no held-out rows")
    with pytest.raises(InputError, match="again is the same run as linear"):
        plan_combination([linear, ("again", linear[1])], BAND, BAND)
    with pytest.raises(InputError, match="linear is given twice"):
        plan_combination([linear, trees, linear], BAND, BAND)
    pairs = made(table, "auc-rls", Validation(scheme="leave-pair-out"))
    assert (
        why_not([linear, ("pairs", pairs)]) == "pairs used leave-pair-out, which holds out no rows"
    )
    both = combined([linear, trees])
    assert why_not([linear, ("both", both)]).startswith("both is itself a combination of runs")
    assert not why_not(in_folds)
    with pytest.raises(InputError, match="other shares no held-out rows with linear"):
        plan_combination([linear, ("other", held_out[0][1])], BAND, BAND)


def test_run_without_its_model_is_named(in_folds):
    (name, record), other = in_folds[:2]

    class Damaged:
        def __getattr__(self, attribute):
            if attribute == "model":
                raise InputError("the model is missing")
            return getattr(record.splits[0], attribute)

    broken = dataclasses.replace(record, splits=(Damaged(), *record.splits[1:]))
    with pytest.raises(InputError, match=f"{name} has no model: the model is missing"):
        combined([(name, broken), other])


def test_combination_id_ignores_the_order_of_members(in_folds):
    one = plan_combination(in_folds, BAND, BAND)
    assert one.id == plan_combination(in_folds[::-1], BAND, BAND, "named").id
    assert one.id != plan_combination(in_folds[:3], BAND, BAND).id
    assert one.id != plan_combination(in_folds, None, BAND).id
    np.testing.assert_array_equal(
        combined(in_folds).splits[0].test_scores, combined(in_folds[::-1]).splits[0].test_scores
    )


def test_combination_cannot_be_refit(table, in_folds):
    record = combined(in_folds)
    again = execute(record.experiment, table)
    assert again.status == "failed"
    assert "combines 5 finished runs without training" in again.error
    with pytest.raises(InputError, match="without training"):
        refit(record.experiment, table)
    assert "aucstudio combine PROJECT" in command_line(record.experiment)


def test_combination_can_be_stopped_between_splits(table, in_folds):
    messages = []

    def stop_after_one(progress):
        messages.append(progress)
        return any(one.finished is not None for one in messages)

    with pytest.raises(combining.Stopped):
        combined(in_folds, listen=stop_after_one)
    assert sum(one.finished is not None for one in messages) == 1


def test_command_saves_a_combination_refit_on_all_rows(tmp_path, capsys):
    table, project = write(tmp_path / "t.csv"), tmp_path / "p.aucproj"
    common = [str(table), "--label", "y", "--project", str(project), "--quiet", "--folds", "3"]
    for method in ("auc-rls", "logistic"):
        assert cli.main(["train", *common, "--method", method, "--ignore", "site"]) == 0
    model = tmp_path / "m.aucmodel"
    command = ["combine", str(project), "AUC-RLS", "Logistic regression", "--save-model"]
    assert cli.main([*command, str(model), "--json"]) == 0
    made = load_model(model)
    assert made.trained_on.startswith("all 150 labelled rows")
    assert len(made.scorer.members) == 2
    assert np.isfinite(made.score(read_table(table))).all()


@pytest.mark.slow
def test_command_adds_the_combination_to_the_project(tmp_path, capsys, printed, refused):
    table, project = write(tmp_path / "t.csv"), tmp_path / "p.aucproj"
    common = [str(table), "--label", "y", "--project", str(project), "--quiet", "--ignore", "site"]
    for method in ("auc-rls", "logistic"):
        assert cli.main(["train", *common, "--method", method, "--ignore", "marker"]) == 0
    assert cli.main(["train", *common, "--score-column", "marker"]) == 0
    capsys.readouterr()
    model = tmp_path / "m.aucmodel"
    command = ["combine", str(project), "AUC-RLS", "Logistic regression", "marker", "--json"]
    assert cli.main([*command, "--name", "all three", "--save-model", str(model)]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    *_, record = ProjectFile.open(project).runs()
    assert record.id == run["id"]
    assert record.experiment.title == "all three"
    assert len(record.experiment.members) == 3
    assert record.experiment.id == record.id
    assert np.isfinite(load_model(model).score(read_table(table))).all()
    # It can be compared, and verification skips it.
    pairs = printed("compare", project)["pairs"]["auc"]
    assert all(not pair["refused"] for pair in pairs)
    assert "verify the runs that it combines" in refused("verify", project, "all three")
    assert "no finished run 'nobody'" in refused("combine", project, "AUC-RLS", "nobody")
    assert cli.main(["combine", str(project), "AUC-RLS"]) == 2


def test_combining_without_finished_runs_is_refused(tmp_path, refused):
    project = tmp_path / "p.aucproj"
    ProjectFile.create(project)
    assert "has no finished run" in refused("combine", project, "one", "other")
