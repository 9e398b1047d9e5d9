"""Models: scores, thresholds and columns."""

import json
import pickle
import zipfile

import numpy as np
import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from aucstudio.project.runs.execute import execute
from aucstudio.project.store.archive import SUMS, pack
from aucstudio.project.store.model_file import load_model, save_model
from tests.conftest import write_file

SETTINGS = [("auc-rls", {}), ("auc-svm", {"kernel": "rbf"}), ("svm", {"kernel": "poly"})]


@pytest.mark.parametrize(("method", "settings"), SETTINGS)
def test_saved_model_returns_the_same_scores(plan, table, tmp_path, method, settings):
    split = execute(plan(method, settings), table).splits[0]
    path = tmp_path / "model.aucmodel"
    save_model(split.model, path)
    scores = load_model(path).score(table)
    np.testing.assert_array_equal(scores[split.test_rows], split.test_scores)


def test_scoring_needs_no_label_or_column_order(plan, table, tmp_path):
    split = execute(plan(), table).splits[0]
    names = [c.name for c in table.columns if c.role != "label"][::-1]
    columns = {c.name: c for c in table.columns}
    lines = [",".join(names)]
    for i in range(table.rows):
        cells = [columns[name].values[i] for name in names]
        lines.append(",".join("" if c != c or c is None else str(c) for c in cells))
    bare = read_table(write_file(tmp_path / "bare.csv", "\n".join(lines) + "\n"), need_label=False)
    np.testing.assert_array_equal(split.model.score(bare), split.model.score(table))


@pytest.fixture
def saved(plan, table, tmp_path):
    path = tmp_path / "model.aucmodel"
    save_model(execute(plan(), table).splits[0].model, path)
    return path


def rewrite(path, change):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    entries.pop(SUMS)
    path.write_bytes(pack(entries))


def edit_manifest(**changes):
    def change(entries):
        manifest = json.loads(entries["manifest.json"]) | changes
        entries["manifest.json"] = json.dumps(manifest).encode()

    return change


def test_model_of_a_newer_format_is_refused(saved):
    rewrite(saved, edit_manifest(format=99))
    with pytest.raises(InputError, match="newer AUC Studio"):
        load_model(saved)


def test_model_files_are_never_unpickled(saved, tmp_path):
    witness = tmp_path / "was-run"

    class Trap:
        def __reduce__(self):
            return (open, (str(witness), "w"))

    header = np.lib.format
    import io

    data = io.BytesIO()
    header.write_array_header_1_0(data, {"descr": "|O", "fortran_order": False, "shape": (1,)})
    data.write(pickle.dumps([Trap()]))

    def plant(entries):
        entries["arrays/scorer.weights.npy"] = data.getvalue()

    rewrite(saved, plant)
    with pytest.raises(InputError):
        load_model(saved)
    assert not witness.exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 torn"])
def test_files_that_are_not_models_are_refused(tmp_path, content):
    path = write_file(tmp_path / "no.aucmodel", content)
    with pytest.raises(InputError, match=r"not an AUC Studio model|is empty"):
        load_model(path)


def test_missing_model_file_is_reported(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load_model(tmp_path / "absent.aucmodel")


def test_failed_save_keeps_the_old_model_file(saved, tmp_path):
    model = load_model(saved)
    with pytest.raises(InputError, match="cannot write"):
        save_model(model, tmp_path / "no such folder" / "m.aucmodel")
    before = saved.read_bytes()
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    with pytest.raises(InputError, match="cannot write"):
        save_model(model, blocked)
    assert saved.read_bytes() == before
    assert not list(tmp_path.glob(".*"))
