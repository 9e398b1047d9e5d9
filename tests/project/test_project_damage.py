"""Damaged and hostile projects: no silent error, no loss of intact runs, no traceback."""

import dataclasses
import hashlib
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from aucstudio.cli import main
from aucstudio.gui.state.plan import Plan, RunLook
from aucstudio.gui.state.study_reading import read_project
from aucstudio.project.data.preparing.stored import arrays_of, settings_of
from aucstudio.project.errors import InputError
from aucstudio.project.results.documents import named_runs, readable_runs
from aucstudio.project.runs.execute import execute
from aucstudio.project.scratch import BoundedCache
from aucstudio.project.store.archive import array_to_bytes
from aucstudio.project.store.check import check_file, repair_project
from aucstudio.project.store.project import database as source
from aucstudio.project.store.project.database import checksum, seal
from aucstudio.project.store.project.project_file import ProjectFile
from tests.conftest import write_file
from tests.project.conftest import run_sql

PARTS = ("train_rows", "test_rows", "train_positive", "test_positive", "train_scores")
PARTS = (*PARTS, "test_scores", "support_pairs")


@pytest.fixture(scope="module")
def stored(tmp_path_factory, table_once):
    """Return an intact project of four runs and its visible content."""
    from aucstudio.project.data.validation import Validation
    from aucstudio.project.runs.experiment import DataReference
    from aucstudio.project.runs.planning import plan_experiment
    from aucstudio.project.runs.tuning import Tuning

    data = dataclasses.replace(DataReference.to_table(table_once), path="/nowhere/study.csv")
    half, folds = Validation(test_size=0.5), Validation(scheme="folds", folds=2)
    planned = [
        plan_experiment(data, "auc-svm", {}, half),
        plan_experiment(data, "auc-rls", {}, folds),
        plan_experiment(data, "rls", {}, half, (0.0, 0.1), Tuning("auc", folds=2)),
        plan_experiment(data, "auc-split", {}, half),
    ]
    path = tmp_path_factory.mktemp("stored") / "study.aucproj"
    project = ProjectFile.create(path)
    runs = [project.add_run(execute(experiment, table_once)) for experiment in planned]
    looks = {run.id: RunLook(f"my {k}", k) for k, run in enumerate(runs)}
    project.set_plan({"window": Plan(method="auc-svm", looks=looks).as_json()})
    project.begin_run(planned[0])
    return path, visible_content(path)


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    clear_cache(monkeypatch)


def clear_cache(monkeypatch):
    """Clear the cache of earlier reads."""
    monkeypatch.setattr(source, "shared_cache", BoundedCache(1 << 30))


def fingerprint(split):
    digest = hashlib.sha256()
    for name in PARTS:
        digest.update(getattr(split, name).tobytes())
    curve, looks = split.curve, split.trajectory
    for array in (curve.iteration, curve.seconds, curve.objective, curve.gap):
        digest.update(array.tobytes())
    digest.update(repr(curve.stages).encode())
    for array in (looks.iteration, looks.seconds, looks.train.scores, looks.held.scores):
        digest.update(array.tobytes())
    scorer, learnt = split.model.scorer, split.model.preparation
    for array in (*scorer.arrays().values(), *arrays_of(learnt).values()):
        digest.update(array.tobytes())
    digest.update(repr([scorer.settings(), settings_of(learnt)]).encode())
    values = [split.repeat, split.fold, split.objective, split.gap, split.n_iter, split.notes]
    return digest.hexdigest(), repr(values)


def visible_content(path):
    """Return the content of a project that window and command show, and all warnings."""
    reported = []
    try:
        study = read_project(path)
    except InputError as error:
        return {}, None, [str(error)]
    reported += study.warnings
    runs = {}
    for record in study.records:
        try:
            splits = [fingerprint(split) for split in record.splits]
            runs[record.id] = (json.dumps(record.header(), sort_keys=True), splits)
        except InputError as error:
            reported.append(str(error))
    named, band = named_runs(path, reported.append)
    readable_runs(named, band, reported.append)
    return runs, study.plan(Plan()), reported


def check_visible(found, whole):
    """Check that a damaged project shows intact content only and reports what is missing."""
    runs, kept, reported = found
    expected, plan, known = whole
    reported = [sentence for sentence in reported if sentence not in known]
    for run, value in runs.items():
        assert value == expected[run], "a run changed silently"
    if len(runs) < len(expected) or kept != plan:
        assert reported, "something is missing without a warning"
    assert not any("Traceback" in sentence for sentence in reported)
    return "reported" if reported else "same"


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.slow
def test_flipped_bits_are_harmless_or_reported(stored, tmp_path, monkeypatch):
    path, whole = stored
    data, place = path.read_bytes(), tmp_path / "flipped.aucproj"
    drawn, outcomes = random.Random(2), []
    for _ in range(100):  # tests.torture.flips flips many more
        place.write_bytes(flipped(data, drawn.randrange(8 * len(data))))
        clear_cache(monkeypatch)
        outcomes.append(check_visible(visible_content(place), whole))
    assert outcomes.count("reported") > 20


@pytest.mark.slow
def test_flipped_header_bits_are_harmless_or_reported(stored, tmp_path, monkeypatch):
    path, whole = stored
    data, place = path.read_bytes(), tmp_path / "head.aucproj"
    for bit in range(0, 8 * 100, 9):
        place.write_bytes(flipped(data, bit))
        clear_cache(monkeypatch)
        check_visible(visible_content(place), whole)


def damage_run(path, name, number=1):
    if name == "document":
        change = "UPDATE records SET document = replace(document, 'done', 'gone')"
        run_sql(path, f"{change} WHERE position = ?", (number,))
    else:
        ((text,),) = run_sql(path, "SELECT document FROM records WHERE position = ?", (number,))
        key = bytes.fromhex(json.loads(text)["splits"][0]["parts"][name])
        run_sql(path, "UPDATE blobs SET data = zeroblob(100) WHERE checksum = ?", (key,))


@pytest.fixture
def copied(stored, tmp_path):
    return shutil.copy(stored[0], tmp_path / "damaged.aucproj")


def test_damaged_run_is_named_and_the_others_load(copied, stored):
    damage_run(copied, "document")
    contents = ProjectFile.open(copied).read()
    assert len(contents.records) == 3
    (damaged,) = contents.damaged
    assert (damaged.position, damaged.name) == (1, "my 0")
    assert damaged.id in stored[1][0]
    assert "checksum" in damaged.what
    assert "my 0" in read_project(copied).warnings[0]


def test_missing_runs_are_reported(copied):
    run_sql(copied, "DELETE FROM records WHERE position IN (2, 4)")
    contents = ProjectFile.open(copied).read()
    assert [(run.position, run.what) for run in contents.damaged] == [
        (2, "it is missing"),
        (4, "it is missing"),
    ]


def test_damaged_plan_does_not_affect_the_runs(copied):
    run_sql(copied, "UPDATE documents SET document = '{}' WHERE name = 'plan'")
    study = read_project(copied)
    assert len(study.records) == 4
    assert not {look.name for look in study.plan(Plan()).looks.values()} & {
        f"my {k}" for k in range(4)
    }
    assert any("plan is damaged" in sentence for sentence in study.warnings)
    ProjectFile(copied).set_plan({"name": "anew"})
    assert ProjectFile(copied).plan() == {"name": "anew"}


def test_damaged_scores_are_reported_by_run_and_split(copied, capsys):
    damage_run(copied, "test_scores", 2)
    records = ProjectFile.open(copied).runs()
    assert len(records) == 4
    with pytest.raises(InputError, match=r"AUC-RLS \(\w+\), split 1, is damaged.*test scores"):
        assert len(records[1].splits[0].test_scores)
    assert len(records[1].splits[1].test_scores) == 80
    assert main(["compare", str(copied), "--json"]) == 0
    out, err = capsys.readouterr()
    assert [run["name"] for run in json.loads(out)["runs"]] == ["my 0", "my 2", "my 3"]
    assert "my 1 is left out" in err


def test_check_reports_damage_and_repair_saves_the_rest(copied, stored, capsys, tmp_path):
    assert main(["check", str(stored[0])]) == 0
    assert "an intact project with 4 runs" in capsys.readouterr().out
    damage_run(copied, "document", 1)
    damage_run(copied, "test_scores", 2)
    before = copied.read_bytes()
    assert main(["check", str(copied), "--repair", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["whole"]
    assert found["runs"] == 2
    assert any("split 1" in problem for problem in found["problems"])
    assert found["repaired"]["runs"] == 3
    assert copied.read_bytes() == before
    saved = tmp_path / "damaged.repaired.aucproj"
    assert main(["check", str(saved)]) == 0
    runs, kept, _ = visible_content(saved)
    assert kept == stored[1][1]
    whole = [run for run, value in runs.items() if value == stored[1][0][run]]
    assert len(runs) == 3
    assert len(whole) == 2
    assert main(["check", str(copied), "--repair"]) == 2  # never overwrites another file
    assert main(["check", str(copied), "--repair", "-o", str(tmp_path / "x.aucproj")]) == 1


@pytest.mark.parametrize("page", [1, 2, 3, 4, 6, 9])
def test_project_with_a_zeroed_page_is_repaired(stored, tmp_path, page):
    path, whole = stored
    data = bytearray(path.read_bytes())
    data[4096 * (page - 1) : 4096 * page] = bytes(4096)
    damaged = write_file(tmp_path / "page.aucproj", bytes(data))
    check_visible(visible_content(damaged), whole)
    assert check_file(damaged).problems
    repaired = repair_project(damaged)
    assert repaired.runs >= 2
    assert check_file(repaired.file).problems == ()
    runs, _, _ = visible_content(repaired.file)
    assert sum(whole[0][run] == value for run, value in runs.items()) >= 1


def test_truncated_project_is_reported(stored, tmp_path):
    path, whole = stored
    data = path.read_bytes()
    for share in (0.3, 0.6, 0.9):
        short = tmp_path / f"short{share}.aucproj"
        short.write_bytes(data[: int(share * len(data)) // 4096 * 4096])
        found = visible_content(short)
        check_visible(found, whole)
        assert found[2]
        assert check_file(short).problems


def test_models_and_experiments_are_checked(tmp_path, table_file, capsys):
    model = tmp_path / "m.aucmodel"
    assert main(["train", str(table_file), "--method", "rls", "--save-model", str(model)]) == 0
    experiment = tmp_path / "e.toml"
    experiment.write_text('format = 1\n[data]\nfile = "study.csv"\n[[runs]]\nmethod = "rls"\n')
    for path in (model, experiment):
        capsys.readouterr()
        assert main(["check", str(path)]) == 0
        assert "an intact" in capsys.readouterr().out
    model.write_bytes(model.read_bytes()[:-40])
    experiment.write_text("format = 1\n[[runs]]\nmethod = 3\n")
    for path in (model, experiment):
        assert main(["check", str(path)]) == 1
        assert main(["check", str(path), "--repair"]) == 2
    assert main(["check", str(table_file)]) == 2
    assert main(["check", str(tmp_path / "absent.aucproj")]) == 2


# ------------------------------------------------------------------ hostile files


def altered(stored, tmp_path, *statements):
    path = shutil.copy(stored[0], tmp_path / "hostile.aucproj")
    for statement in statements:
        run_sql(path, *((statement,) if isinstance(statement, str) else statement))
    return path


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",),
        ("CREATE VIEW v AS SELECT 1",),
        (
            "DROP TABLE flights",
            "CREATE VIEW flights AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
            "FROM c) SELECT x AS owner, x AS document, x AS checksum FROM c",
        ),
        ("CREATE INDEX i ON records (id, document)",),
        ("CREATE TABLE more (x)",),
        ("ALTER TABLE meta ADD COLUMN more TEXT",),
        ("DROP TABLE records",),
        ("PRAGMA application_id = 0",),
        ("UPDATE meta SET value = '0'",),
        ("UPDATE meta SET value = 'two'",),
        ("DELETE FROM meta",),
    ],
)
def test_foreign_database_schema_is_refused(stored, tmp_path, statements):
    path = altered(stored, tmp_path, *statements)
    before = path.read_bytes()
    for act in (ProjectFile.open, read_project, named_runs):
        with pytest.raises(InputError, match="is not an AUC Studio project"):
            act(path)
    with pytest.raises(InputError, match="is not an AUC Studio project"):
        ProjectFile(path).set_plan({})
    assert path.read_bytes() == before


def resealed(path, change):
    """Return the statement that stores a changed document of the first run with its checksum."""
    ((run, text),) = run_sql(path, "SELECT id, document FROM records WHERE position = 1")
    document = json.loads(text)
    changed = change(document)
    values = seal(document if changed is None else changed, "record", 1, run)
    return "UPDATE records SET document = ?, checksum = ? WHERE position = 1", values


def put(*path, value):
    def change(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return change


HOSTILE = json.loads(Path(__file__).with_suffix(".json").read_text())


def changed(path, value, method=None):
    """Return a change of a run's document: a value at a path, and another method."""

    def change(document):
        if method is not None:
            document["experiment"]["method"] = method
        return put(*path, value=value)(document) if path else value

    return change


@pytest.mark.parametrize("kind", HOSTILE)
def test_invalid_run_document_is_skipped(stored, tmp_path, kind):
    path = altered(stored, tmp_path, resealed(stored[0], changed(**HOSTILE[kind])))
    contents = ProjectFile.open(path).read()
    assert [run.position for run in contents.damaged] == [1]
    assert len(contents.records) == 3
    assert contents.damaged[0].what
    check_visible(visible_content(path), stored[1])


def test_deeply_nested_run_document_is_skipped(stored, tmp_path):
    deep = b"[" * 100_000
    ((run,),) = run_sql(stored[0], "SELECT id FROM records WHERE position = 1")
    query = "UPDATE records SET document = ?, checksum = ? WHERE position = 1"
    path = altered(stored, tmp_path, (query, (deep, checksum(deep, "record", 1, run))))
    assert "nested too deeply" in ProjectFile.open(path).read().damaged[0].what


def numpy_header(words):
    return b"\x93NUMPY\x01\x00v\x00" + words.ljust(117) + b"\n" + bytes(80)


@pytest.mark.parametrize(
    "array",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        b"\x93NUMPY\x01\x00v\x00" + b"(" * 118,
        numpy_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"),
        numpy_header(b"{'descr': '|O', 'fortran_order': False, 'shape': (10,), }"),
        *(
            array_to_bytes(np.array(v))
            for v in ([np.nan] * 80, [1j] * 80, [1.0] * 79, [[1.0] * 80])
        ),
    ],
)
def test_invalid_score_arrays_are_refused(stored, tmp_path, array):
    key = checksum(array)
    change = put("splits", 0, "parts", "test_scores", value=key.hex())
    blob = ("INSERT INTO blobs VALUES (?, ?)", (key, array))
    path = altered(stored, tmp_path, blob, resealed(stored[0], change))
    record = ProjectFile.open(path).runs()[0]
    with pytest.raises(InputError, match="split 1, is damaged"):
        assert len(record.splits[0].test_scores)


@pytest.mark.parametrize(
    "window",
    [
        {"looks": 3},
        {"band": ["a", "b"]},
        {"method": "alien"},
        {"looks": {"x": {"name": 7}}},
        [],
        {"params": {"auc-svm": {"C": "much"}}},
    ],
)
def test_invalid_plan_is_replaced_by_the_default(stored, tmp_path, window):
    document = Plan().as_json() | window if isinstance(window, dict) else window
    if isinstance(window, dict) and "params" in window:
        document["method"] = "auc-svm"
    sealed = seal({"version": 9, "plan": {"window": document}}, "plan")
    query = "UPDATE documents SET document = ?, checksum = ? WHERE name = 'plan'"
    path = altered(stored, tmp_path, (query, sealed))
    study = read_project(path)
    assert not {look.name for look in study.plan(Plan()).looks.values()} & {
        f"my {k}" for k in range(4)
    }
    assert len(study.records) == 4
    assert any("plan is damaged" in sentence for sentence in study.warnings)
    reported = []
    named, _ = named_runs(path, reported.append)
    assert len(named) == 4
