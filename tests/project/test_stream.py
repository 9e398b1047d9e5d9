"""Tables that stay on disk are prepared, fitted and scored like those in memory."""

import gc
import json

import numpy as np
import pytest
import tomli_w

from aucstudio.cli import main
from aucstudio.engine.roc import auc
from aucstudio.project import scratch
from aucstudio.project.data.disk.stream import TableBlocks, open_stream
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.errors import InputError
from aucstudio.project.results.summary import auc_summary
from aucstudio.project.runs.estimate import read_size, table_reader
from aucstudio.project.runs.execute import execute
from aucstudio.project.runs.experiment import DataReference
from aucstudio.project.runs.planning import plan_experiment
from aucstudio.project.store.model_file import load_model
from tests.conftest import write_file, write_parquet

ROWS = 400


@pytest.fixture(scope="module")
def csv_file(tmp_path_factory):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, ROWS))
    grade = rng.integers(0, 4, ROWS)
    kind = rng.choice(["u", "v w", "", "x"], ROWS)
    sick = a - b + (kind == "u") + rng.normal(size=ROWS) > 1.2
    lines = ["a;b;grade;kind;id;label"]
    for k in range(ROWS):
        first = "NA" if rng.random() < 0.2 else repr(a[k]).replace(".", ",")
        second = repr(b[k] * 1e-3 + 40).replace(".", ",")
        outcome = "" if k == 17 else ("sick" if sick[k] else "well")
        lines.append(f"{first};{second};{grade[k]};{kind[k]};{k};{outcome}")
    return write_file(tmp_path_factory.mktemp("tables") / "small.csv", "\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def parquet_file(csv_file):
    how = "delim=';', decimal_separator=',', nullstr=['', 'NA']"
    path = csv_file.with_suffix(".parquet")
    return write_parquet(path, f"SELECT * FROM read_csv('{csv_file}', {how})")


@pytest.fixture(params=["csv", "parquet"])
def path(request, csv_file, parquet_file):
    return csv_file if request.param == "csv" else parquet_file


@pytest.fixture
def opened():
    """Return a function that opens streams; close them afterwards."""
    streams = []

    def make(path, **options):
        streams.append(open_stream(path, **{"block_bytes": 4_000} | options))
        return streams[-1]

    yield make
    for stream in streams:
        stream.close()


def plan(table, method, settings=None, **options):
    validation = Validation(**({"test_size": 0.3, "seed": 4} | options))
    return plan_experiment(DataReference.to_table(table), method, settings or {}, validation)


# ------------------------------------------------------------------ Parquet in memory


@pytest.mark.slow
def test_parquet_is_read_like_the_csv(csv_file, parquet_file):
    text, columnar = read_table(csv_file), read_table(parquet_file)
    assert columnar.format == "parquet"
    assert (columnar.label, columnar.positive, columnar.classes) == ("label", "sick", text.classes)
    for one, other in zip(text.columns, columnar.columns, strict=True):
        assert (one.name, one.role, one.kind, one.missing, one.distinct) == (
            other.name,
            other.role,
            other.kind,
            other.missing,
            other.distinct,
        )
        np.testing.assert_array_equal(one.values, other.values)


def test_inspect_shows_the_parquet_format(parquet_file, capsys, printed):
    found = printed("inspect", parquet_file)
    assert (found["format"], found["delimiter"], found["rows"]) == ("parquet", None, ROWS)
    assert main(["inspect", str(parquet_file)]) == 0
    assert "parquet\n" in capsys.readouterr().out


def test_types_of_parquet_columns_are_read(tmp_path):
    path = write_parquet(
        tmp_path / "types.parquet",
        "SELECT i::TINYINT AS small, (i / 7)::DECIMAL(9, 4) AS exact, i > 3 AS truth, "
        "DATE '2024-01-01' + i::INT AS day, CASE WHEN i % 2 = 0 THEN ' Yes ' ELSE 'no' END "
        'AS "the ""label""", 1.5::FLOAT AS flat FROM range(10) t(i)',
    )
    table = read_table(path, label='the "label"')
    kinds = {column.name: column.kind for column in table.columns}
    assert [kinds[name] for name in ("small", "exact", "truth", "day")] == [
        "number",
        "number",
        "text",
        "number",
    ]
    assert table.column("day").is_date
    assert table.column("day").values[0] == 19723
    assert table.classes == {"Yes": 5, "no": 5}
    np.testing.assert_allclose(table.columns[1].values, np.round(np.arange(10) / 7, 4))


@pytest.mark.parametrize("reader", [read_table, open_stream])
def test_unreadable_parquet_is_refused(tmp_path, reader):
    path = write_file(tmp_path / "bad.parquet", b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"bad\.parquet cannot be read"):
        reader(path)
    with pytest.raises(InputError, match="no rows"):
        reader(write_parquet(path, "SELECT 1 AS a, 2 AS y WHERE false"))
    with pytest.raises(InputError, match="only one column"):
        reader(write_parquet(path, "SELECT i AS y FROM range(5) t(i)"))


def test_infinite_numbers_are_missing_and_reported(tmp_path, opened):
    cells = "CASE WHEN i = 7 THEN 'inf'::DOUBLE ELSE i / 3 END AS a, i % 2 AS y"
    path = write_parquet(tmp_path / "infinite.parquet", f"SELECT {cells} FROM range(30) t(i)")
    table, stream = read_table(path, label="y"), opened(path, label="y")
    for one in (table, stream):
        assert one.missing() == {"a": 1, "y": 0}
        assert one.column("a").missing == 1
        assert one.unreadable["a"].count == 1
        assert any(
            "cell is not a number and counts as missing: 'inf'" in note for note in one.notes
        )
    window = stream.window(0, 30, ["a"]).column("a").values
    np.testing.assert_array_equal(window, table.column("a").values)
    assert np.isfinite(learn_preparation(stream, np.arange(30)).means).all()


# ------------------------------------------------------------------ preparation


def test_stream_matches_the_table_in_memory(path, opened):
    table, stream = read_table(path), opened(path)
    assert (stream.rows, stream.label, stream.positive) == (ROWS, "label", "sick")
    assert stream.classes == table.classes
    assert stream.unlabelled == table.unlabelled == 1
    assert [c.role for c in stream.columns] == [c.role for c in table.columns]
    np.testing.assert_array_equal(stream.labelled(), table.labelled())
    np.testing.assert_array_equal(stream.is_positive(), table.is_positive())
    assert DataReference.to_table(stream) == DataReference.to_table(table)


@pytest.mark.slow
@pytest.mark.parametrize("block_bytes", [900, 1_000_000])
def test_preparation_of_a_stream_equals_that_in_memory(path, block_bytes, opened):
    table, stream = read_table(path), opened(path, block_bytes=block_bytes)
    rows = np.random.default_rng(0).permutation(ROWS)[:301]
    whole, parts = learn_preparation(table, rows), learn_preparation(stream, rows)
    np.testing.assert_array_equal(parts.medians, whole.medians)
    np.testing.assert_array_equal([parts.lows, parts.highs], [whole.lows, whole.highs])
    np.testing.assert_array_equal([parts.means, parts.scales], [whole.means, whole.scales])
    assert (parts.numbers, parts.categories) == (whole.numbers, whole.categories)
    assert parts.levels == whole.levels
    X, blocks = whole.apply(table, rows), TableBlocks(stream, whole, rows)
    found, seen = np.empty_like(X), 0
    for k in range(len(blocks)):
        numbers, part = blocks.block(k)
        found[numbers], seen = part, seen + len(numbers)
        assert part.nbytes <= block_bytes
    assert seen == len(rows)
    np.testing.assert_array_equal(found, X)
    wanted = np.array([250, 3, 99])
    np.testing.assert_array_equal(blocks[wanted], X[wanted])
    np.testing.assert_array_equal(blocks.positive, table.is_positive()[rows - (rows > 17)])


@pytest.mark.slow
def test_medians_of_columns_with_ties_equal_those_in_memory(tmp_path, opened):
    rng = np.random.default_rng(0)
    cells = "i % 3 AS few, 1e9 + i AS near, NULL::DOUBLE AS none, i % 2 AS y"
    path = write_parquet(tmp_path / "ties.parquet", f"SELECT {cells} FROM range(1001) t(i)")
    roles = {"label": "y"}
    table, stream = read_table(path, **roles), opened(path, block_bytes=1_000, **roles)
    rows = rng.permutation(1001)[:700]
    whole, parts = learn_preparation(table, rows), learn_preparation(stream, rows)
    np.testing.assert_array_equal(parts.medians, whole.medians)
    np.testing.assert_array_equal([parts.lows, parts.highs], [whole.lows, whole.highs])


# ------------------------------------------------------------------ runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("auc-rls", {}),
        ("rank-svm", {"tol": 1e-12}),
        ("nbauc", {"n_landmarks": 15, "tol": 1e-14, "C": 10.0}),
    ],
)
@pytest.mark.parametrize("validation", [{}, {"scheme": "folds", "folds": 3}])
def test_streamed_run_equals_the_run_in_memory(path, method, settings, validation, opened):
    table, stream = read_table(path), opened(path)
    experiment = plan(table, method, settings, **validation)
    assert experiment.id == plan(stream, method, settings, **validation).id
    whole, parts = execute(experiment, table), execute(experiment, stream)
    assert parts.status == "done", parts.error
    for one, other in zip(whole.splits, parts.splits, strict=True):
        np.testing.assert_array_equal(other.train_rows, one.train_rows)
        np.testing.assert_array_equal(other.test_rows, one.test_rows)
        np.testing.assert_array_equal(other.test_positive, one.test_positive)
        np.testing.assert_allclose(other.test_scores, one.test_scores, atol=1e-9)
        # Scores that differ only by rounding are ties.
        areas = [auc(s.test_positive, s.test_scores.round(7)) for s in (one, other)]
        assert areas[1] == pytest.approx(areas[0], abs=1e-9)


@pytest.mark.slow
def test_stochastic_descent_on_a_stream_ranks_equally_well(csv_file, opened):
    stream = opened(csv_file)
    settings = {"n_landmarks": 20, "n_epochs": 5}
    parts = execute(plan(stream, "nsauc", settings), stream)
    whole = execute(plan(stream, "nsauc", settings), read_table(csv_file))
    assert auc_summary(parts).value == pytest.approx(auc_summary(whole).value, abs=0.05)


def test_stopped_run_keeps_the_current_split(csv_file, opened, monkeypatch):
    monkeypatch.setattr("aucstudio.engine.monitor.INTERVAL", np.inf)
    monkeypatch.setattr("aucstudio.project.runs.progress.REPORT_EVERY", 0.0)
    stream = opened(csv_file)
    record = execute(
        plan(stream, "rank-svm"),
        stream,
        listen=lambda p: p.step is not None and p.step.iteration >= 1,
    )
    assert record.status == "stopped"
    assert len(record.splits) == 1
    assert not record.splits[0].converged


def test_changed_file_is_detected(parquet_file, tmp_path, opened):
    path = write_file(tmp_path / "changing.parquet", parquet_file.read_bytes())
    stream = opened(path)
    blocks = TableBlocks(stream, learn_preparation(stream, np.arange(100)), np.arange(100))
    blocks.block(0)
    path.write_bytes(parquet_file.read_bytes() + b" ")
    with pytest.raises(InputError, match="changed while it was being read"):
        blocks.block(0)
    record = execute(plan(read_table(parquet_file), "auc-rls"), stream)
    assert record.status == "failed"
    assert "changing.parquet changed" in record.error


@pytest.mark.parametrize("closed", [True, False])
def test_temporary_files_of_a_stream_are_removed(csv_file, closed):
    with scratch.folder() as beside:
        before = set(beside.parent.iterdir())
        stream = open_stream(csv_file)
        assert len(set(beside.parent.iterdir()) - before) == 1
        if closed:
            stream.close()
        del stream
        gc.collect()
        assert set(beside.parent.iterdir()) <= before


# ------------------------------------------------------------------ refusals


@pytest.mark.slow
def test_invalid_labels_of_a_stream_are_refused(csv_file, tmp_path, opened):
    with pytest.raises(InputError, match="no class 'ill'"):
        open_stream(csv_file, label="label", positive="ill")
    with pytest.raises(InputError, match="no column 'nowhere'"):
        open_stream(csv_file, label="nowhere")
    single = write_file(tmp_path / "single.csv", "a,y\n" + "".join(f"{k},1\n" for k in range(20)))
    with pytest.raises(InputError, match="one class only"):
        open_stream(single, label="y")
    empty = write_file(tmp_path / "empty.csv", "a,y\n")
    with pytest.raises(InputError, match="nothing below"):
        open_stream(empty, label="y")


def test_block_sizes_are_parsed():
    assert [read_size(text) for text in ("64M", "2g", "1500", "3kB")] == [
        64_000_000,
        2_000_000_000,
        1_500,
        3_000,
    ]
    for text in ("", "64X", "-1", "10"):
        with pytest.raises(InputError, match="block size"):
            read_size(text)


@pytest.mark.slow
def test_experiment_file_runs_in_blocks(csv_file, printed, refused):
    table = read_table(csv_file)
    methods = [{"method": "auc-rls"}, {"method": "rank-svm", "settings": {"tol": 1e-12}}]
    document = {"data": {"file": csv_file.name, "label": table.label}, "runs": methods}
    study = write_file(csv_file.parent / "two.toml", tomli_w.dumps(document).encode())
    found = []
    for more in ([], ["--stream", "--block-size", "5K"]):
        found.append(printed("run", study, *more)["runs"])
    for whole, parts in zip(*found, strict=True):
        assert parts["id"] == whole["id"]
        assert parts["auc"]["value"] == pytest.approx(whole["auc"]["value"], abs=1e-9)
    for more, sentence in (
        (["--jobs", "2"], "leave out --jobs"),
        (["--cluster", "tcp://127.0.0.1:1"], "leave out --cluster"),
        (["--block-size", "huge"], "block size"),
    ):
        assert sentence in refused("run", study, "--stream", *more)
    methods.append({"method": "svm-auc"})
    study.write_bytes(tomli_w.dumps(document).encode())
    assert "svm-auc needs all rows in memory at once" in refused("run", study, "--stream")


def test_table_beyond_memory_is_streamed(path, monkeypatch):
    assert table_reader(path, "auc-rls", stream=False, block_size=None) == (read_table, "")
    monkeypatch.setattr("aucstudio.project.runs.estimate.memory_limit", lambda: 10_000.0)
    reader, said = table_reader(path, "auc-rls", stream=False, block_size=None)
    assert reader is not read_table
    assert "stays on disk" in said
    with pytest.raises(InputError, match=r"svm-auc needs all rows .* auc-rls, rank-svm, nbauc"):
        table_reader(path, "svm-auc", stream=False, block_size=None)


# ------------------------------------------------------------------ the command line


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auc-rls", "rank-svm"])
def test_commands_train_and_score_in_blocks(path, method, tmp_path, capsys, printed):
    documents, scores = [], []
    for stream in ([], ["--stream", "--block-size", "5K"]):
        model, out = str(tmp_path / f"{len(stream)}.aucmodel"), tmp_path / f"{len(stream)}.csv"
        settings = ["--set", "tol=1e-12"] if method == "rank-svm" else []
        words = ["train", str(path), "--method", method, *settings, "--json"]
        assert main([*words, "--save-model", model, "--repeats", "2", *stream]) == 0
        documents.append(json.loads(capsys.readouterr().out))
        assert printed("score", model, path, "-o", out, *stream)["rows"] == ROWS
        scores.append(np.loadtxt(out, delimiter=",", skiprows=1, usecols=(0, 1)))
        assert load_model(model).trained_on.startswith("all 399 labelled rows")
    whole, parts = (document["runs"][0] for document in documents)
    assert documents[0]["data"] == documents[1]["data"]
    assert parts["id"] == whole["id"]
    assert parts["auc"]["per_split"] == pytest.approx(whole["auc"]["per_split"], abs=1e-9)
    assert parts["n_train"] == whole["n_train"]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-6)


@pytest.mark.slow
def test_scores_of_a_stream_are_printed(csv_file, tmp_path, capsys, refused):
    model = str(tmp_path / "m.aucmodel")
    assert main(["train", str(csv_file), "--method", "auc-rls", "--save-model", model]) == 0
    capsys.readouterr()
    assert main(["score", model, str(csv_file)]) == 0
    whole = capsys.readouterr().out
    assert main(["score", model, str(csv_file), "--block-size", "2K"]) == 0
    parts = capsys.readouterr().out
    assert [line.split(",")[0] for line in parts.splitlines()] == [
        line.split(",")[0] for line in whole.splitlines()
    ]
    assert "give -o FILE" in refused("score", model, csv_file, "--stream", "--json")


@pytest.mark.slow
def test_options_unsupported_by_streams_are_refused(csv_file, capsys, refused):
    train = ["train", str(csv_file), "--stream", "--method"]
    for words, sentence in (
        (["svm-auc"], "needs all rows in memory at once"),
        (["auc-rls", "--tune", "auc"], "settings cannot be searched"),
        (["auc-rls", "--leave-pair-out"], "leave-pair-out is impossible"),
        (["auc-rls", "--block-size", "huge"], "block size"),
        (["auc-rls", "--cluster", "tcp://127.0.0.1:1"], "leave out --cluster"),
    ):
        assert sentence in refused(*train, *words)
    assert main([*train, "auc-rls", "--set", "kernel=rbf"]) == 1
    assert "linear kernel" in capsys.readouterr().err
