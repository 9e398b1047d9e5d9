"""Model files that are damaged, hostile or old."""

import dataclasses
import io
import json
import os
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from aucstudio.engine.ensembles.combined import CombinationScorer, Part
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import FourierScorer, KernelScorer, LinearScorer
from aucstudio.project.data.schema import ColumnSchema, Schema
from aucstudio.project.errors import InputError
from aucstudio.project.store import archive
from aucstudio.project.store.archive import array_to_bytes
from aucstudio.project.store.model_file import load_model, model_from_bytes, model_to_bytes
from tests.project.hand_models import CUBICS, TREES, model_with, prepared

CASES = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

RNG = np.random.default_rng(0)
D = 5
MOST_MEMORY = 40e6

SCORERS = {
    "linear": LinearScorer(RNG.normal(size=D)),
    "kernel": KernelScorer(Kernel("rbf", 0.3, 3, 1.0), RNG.normal(size=(7, D)), RNG.normal(size=7)),
    "fourier": FourierScorer(RNG.normal(size=(6, D)), RNG.random(6), RNG.normal(size=6)),
    "trees": TREES,
    "additive": CUBICS,
}


def model_of(kind):
    levels = (("north", "south", "(missing)"),)
    names = {"numbers": ("age", "weight"), "categories": ("town",), "levels": levels}
    columns = [ColumnSchema(name, "number", "number") for name in names["numbers"]]
    columns += [ColumnSchema("town", "category", "text"), ColumnSchema("outcome", "label")]
    return model_with(
        SCORERS[kind],
        preparation=prepared(**names),
        label="outcome",
        params={"C": 1.0, "n_landmarks": None, "fpr_range": [0.0, 0.1]},
        schema=Schema(tuple(columns)),
    )


def parts(kind):
    """Return the manifest and the arrays of a model file."""
    with zipfile.ZipFile(io.BytesIO(model_to_bytes(model_of(kind)))) as file:
        manifest = json.loads(file.read("manifest.json"))
        arrays = {
            name: np.load(io.BytesIO(file.read(name)))
            for name in file.namelist()
            if name.startswith("arrays/")
        }
    return manifest, arrays


def sealed(manifest, arrays):
    """Return a model file of any content with valid checksums."""
    if not isinstance(manifest, bytes):
        manifest = json.dumps(manifest).encode()
    written = {
        name: array if isinstance(array, bytes) else array_to_bytes(array)
        for name, array in arrays.items()
    }
    return archive.pack({"manifest.json": manifest} | written)


def refused(data):
    """Check that bytes are refused with a short error and little memory; return the error."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            model_from_bytes(data, "m.aucmodel")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY
    sentence = str(caught.value)
    assert "m.aucmodel" in sentence
    assert len(sentence) < 500
    return sentence


@pytest.mark.parametrize("kind", SCORERS)
def test_model_file_round_trips(kind):
    model = model_of(kind)
    data = model_to_bytes(model)
    again = model_from_bytes(data, "m")
    X = np.random.default_rng(1).normal(size=(50, D))
    np.testing.assert_array_equal(again.scorer(X), model.scorer(X))
    assert model_to_bytes(again) == data
    assert again.params == model.params
    assert all(array.flags.writeable for array in again.scorer.arrays().values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORERS)
def test_flipped_bit_is_refused_or_harmless(kind):
    whole = model_to_bytes(model_of(kind))
    true = model_to_bytes(model_from_bytes(whole, "m"))
    drawn, refusals = random.Random(7), 0
    for _ in range(500):
        changed = bytearray(whole)
        changed[drawn.randrange(len(whole))] ^= 1 << drawn.randrange(8)
        try:
            found = model_from_bytes(bytes(changed), "m")
        except InputError:
            refusals += 1
        else:
            assert model_to_bytes(found) == true
    assert refusals > 250


def test_truncated_file_is_refused():
    whole = model_to_bytes(model_of("trees"))
    for length in range(0, len(whole), 37):
        refused(whole[:length])


# ------------------------------------------------------------------ arrays

_W, _SCALES = "arrays/scorer.weights.npy", "arrays/preparation.scales.npy"
_LOWS, _HIGHS = "arrays/preparation.lows.npy", "arrays/preparation.highs.npy"
_MEANS, _MEDIANS = "arrays/preparation.means.npy", "arrays/preparation.medians.npy"


def chain(length):
    """Return a degenerate tree: each inner node has a leaf and the next inner node."""
    inner, nodes = np.arange(0, 2 * length, 2), np.arange(2 * length + 1)
    left, right = nodes.copy(), nodes.copy()
    left[inner], right[inner] = inner + 1, inner + 2
    count = len(nodes)
    return {
        "arrays/scorer.roots.npy": np.array([0]),
        "arrays/scorer.left.npy": left,
        "arrays/scorer.right.npy": right,
        "arrays/scorer.feature.npy": np.zeros(count, dtype=int),
        "arrays/scorer.threshold.npy": np.zeros(count),
        "arrays/scorer.value.npy": np.zeros(count),
        "arrays/scorer.gaps_left.npy": np.zeros(count, dtype=bool),
    }


def trees(**changes):
    return {f"arrays/scorer.{name}.npy": np.array(value) for name, value in changes.items()}


BAD_ARRAYS = {
    "a weight that is NaN": ("linear", {_W: np.array([1, 2, 3, 4, np.nan])}),
    "a weight that is infinite": ("linear", {_W: np.array([1, 2, 3, 4, np.inf])}),
    "complex weights": ("linear", {_W: np.ones(D, dtype=complex)}),
    "whole weights": ("linear", {_W: np.ones(D, dtype=np.int64)}),
    "weights of half length": ("linear", {_W: np.ones(D, dtype=np.float32)}),
    "weights as text": ("linear", {_W: np.array(["1"] * D)}),
    "three weights a feature": ("linear", {_W: np.ones((D, 3))}),
    "a weight too many": ("linear", {_W: np.ones(D + 1)}),
    "no weights": ("linear", {_W: None}),
    "an array too many": ("linear", {"arrays/scorer.more.npy": np.ones(1)}),
    "an array of nothing": ("linear", {"arrays/other.npy": np.ones(1)}),
    "an entry too many": ("linear", {"README": b"read me"}),
    "a scale of 0": ("linear", {_SCALES: np.array([1.0, 0.0])}),
    "a scale below 0": ("linear", {_SCALES: np.array([1.0, -1.0])}),
    "a scale that is NaN": ("linear", {_SCALES: np.array([1.0, np.nan])}),
    "a scale that is infinite": ("linear", {_SCALES: np.array([1.0, np.inf])}),
    "a mean that is infinite": ("linear", {_MEANS: np.array([1.0, -np.inf])}),
    "a median that is NaN": ("linear", {_MEDIANS: np.array([np.nan, 1.0])}),
    "a mean too many": ("linear", {_MEANS: np.ones(3)}),
    "points of other features": ("kernel", {"arrays/scorer.points.npy": np.ones((7, 4))}),
    "a point without weight": ("kernel", {"arrays/scorer.points.npy": np.ones((8, D))}),
    "points in three dimensions": ("kernel", {"arrays/scorer.points.npy": np.ones((7, D, 1))}),
    "weights that overflow with any number": ("linear", {_W: np.full(D, 1e308)}),
    "a lower limit above the upper one": (
        "linear",
        {_LOWS: np.array([0.0, 9.0]), _HIGHS: np.array([9.0, 0.0])},
    ),
    "weights whose scores overflow": ("kernel", {_W: np.full(7, 1e308)}),
    "phases that are NaN": ("fourier", {"arrays/scorer.phases.npy": np.full(6, np.nan)}),
    "a tree that turns back": ("trees", trees(left=[1, 1, 0, 3, 5, 5, 6])),
    "a child out of range": ("trees", trees(right=[2, 1, 2, 3, 7, 5, 6])),
    "a child below 0": ("trees", trees(right=[-2, 1, 2, 3, 6, 5, 6])),
    "a root out of range": ("trees", trees(roots=[0, 3, 7])),
    "a tree twice": ("trees", trees(roots=[0, 0, 4])),
    "a node that stays for one side": ("trees", trees(left=[0, 1, 2, 3, 5, 5, 6])),
    "a node of two others": ("trees", trees(right=[2, 1, 2, 3, 5, 5, 6])),
    "a feature out of range": ("trees", trees(feature=[1, 0, 0, 0, D, 0, 0])),
    "a feature below 0": ("trees", trees(feature=[1, 0, 0, 0, -1, 0, 0])),
    "a value that is NaN": ("trees", trees(value=[0, 1, np.nan, 0, 0, 1, 2.0])),
    "a threshold that is NaN": ("trees", trees(threshold=[np.nan, 0, 0, 0, 0, 0, 0])),
    "fewer thresholds than nodes": ("trees", trees(threshold=[0.5, 0, 0])),
    "a chain": ("trees", chain(100_000)),
    "pieces out of count": ("additive", trees(n_breaks=[1, 0])),
    "pieces whose count overflows": ("additive", trees(n_breaks=[2**62, 2**62])),
    "breaks that fall": ("additive", trees(breaks=[0.5, -1.0])),
    "a feature twice": ("additive", trees(feature=[1, 1])),
    "an additive feature out of range": ("additive", trees(feature=[0, D])),
    "coefficients of three": ("additive", trees(coefficients=np.ones((4, 3)))),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_invalid_arrays_are_refused(name):
    kind, changes = BAD_ARRAYS[name]
    manifest, arrays = parts(kind)
    arrays = {k: v for k, v in (arrays | changes).items() if v is not None}
    assert "damaged" in refused(sealed(manifest, arrays))


def header(descr="<f8", shape="(5,)", order="False", version=b"\x01\x00", data=bytes(40)):
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode() + data


HEADERS = {
    "10¹³ numbers": header(shape="(10000000000000,)"),
    "10³⁶ numbers": header(shape="(1000000000000000000, 1000000000000000000)"),
    "more numbers than bytes": header(shape="(6,)"),
    "fewer numbers than bytes": header(shape="(4,)"),
    "negative": header(shape="(-5,)"),
    "no shape": header(shape="()"),
    "objects": header(descr="|O"),
    "a record": header(descr="[('a', '<f8')]"),
    "dates": header(descr="<M8[s]"),
    "a size numpy has not": header(descr="<f3"),
    "by columns": header(order="True"),
    "another version": header(version=b"\x03\x00"),
    "code": header(shape="__import__('os').system('true')"),
    "nothing": b"",
    "half a header": header()[:40],
    "nested": b"\x93NUMPY\x01\x00\xf0\x01" + b"(" * 496,
}


@pytest.mark.parametrize("name", HEADERS)
def test_invalid_array_headers_are_refused(name):
    manifest, arrays = parts("linear")
    refused(sealed(manifest, arrays | {_W: HEADERS[name]}))


# ------------------------------------------------------------------ manifests


def deep(text):
    return b'{"format": 1, "params": ' + text + b"}"


MANIFESTS = {
    "nothing": b"",
    "no object": b"[1, 2]",
    "not JSON": b"{format: 1}",
    "not text": b'{"format": 1, "method": "\xff\xfe"}',
    "lists without end": deep(b"[" * 200_000),
    "lists in lists": deep(b"[" * 200_000 + b"]" * 200_000),
    "objects in objects": deep(b'{"a":' * 200_000 + b"1" + b"}" * 200_000),
    "a number of a million digits": deep(b'{"C": 1' + b"0" * 1_000_000 + b"}"),
    "five million values": deep(b'{"C": [' + b"1," * 5_000_000 + b"1]}"),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_malformed_manifests_are_refused(name):
    refused(sealed(MANIFESTS[name], parts("linear")[1]))


@pytest.mark.parametrize("key", CASES["changes"])
def test_manifest_with_wrong_types_is_refused(key):
    manifest, arrays = parts("linear")
    for value in CASES["changes"][key]:
        refused(sealed(manifest | {key: value}, arrays))
    refused(sealed({k: v for k, v in manifest.items() if k != key}, arrays))


def places(value, path=()):
    """Yield the path of every value in a document."""
    yield path
    keys = list(value) if isinstance(value, dict) else []
    for key in range(len(value)) if isinstance(value, list) else keys:
        yield from places(value[key], (*path, key))


def replaced(document, path, value):
    if not path:
        return value
    changed = document.copy()
    changed[path[0]] = replaced(document[path[0]], path[1:], value)
    return changed


ODD = [None, True, -1, 2**70, 1e308, "", "\ud800", "=1", [], [[]], {}, {"a": 1}, ["x"] * 3]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kernel", "trees"])
def test_any_manifest_yields_a_usable_model_or_an_error(kind):
    manifest, arrays = parts(kind)
    columns = [{"name": "age", "kind": "number", "levels": ["a"]}, *COLUMNS[1:]]
    manifest["schema"] = {"columns": columns, "dialect": {"delimiter": ";"}, "rows": 3}
    taken = refusals = 0
    for path in places(manifest):
        for value in ODD:
            data = sealed(replaced(manifest, path, value), arrays)
            try:
                model = model_from_bytes(data, "m")
            except InputError:
                refusals += 1
            else:
                taken += 1
                with np.errstate(over="ignore"):  # a kernel may be arbitrarily narrow
                    assert np.isfinite(model.scorer(np.ones((2, D)))).all()
    assert taken > 20
    assert refusals > 20


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_non_finite_intercept_is_refused(number):
    manifest, arrays = parts("linear")
    text = json.dumps(manifest).replace('"intercept": 0.25', f'"intercept": {number}')
    assert number in text
    refused(sealed(text.encode(), arrays))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *(("kernel", changes) for changes in CASES["kernels"]),
        *(("trees", {"base": base}) for base in (None, "0", True)),
    ],
)
def test_invalid_scorer_settings_are_refused(kind, settings):
    manifest, arrays = parts(kind)
    manifest["scorer"]["settings"] |= settings
    refused(sealed(manifest, arrays))


def test_unknown_manifest_entries_are_ignored():
    manifest, arrays = parts("linear")
    added = sealed(manifest | {"later": {"columns": [{"name": "age"}]}}, arrays)
    assert model_from_bytes(added, "m").label == "outcome"


COLUMNS = [{"name": name, "role": "ignore", "kind": "text"} for name in ("age", "weight", "town")]


@pytest.mark.parametrize("schema", CASES["schemas"])
def test_invalid_schema_is_refused(schema):
    manifest, arrays = parts("linear")
    assert "damaged" in refused(sealed(manifest | {"schema": schema}, arrays))


def test_minimal_valid_schema_is_accepted():
    manifest, arrays = parts("linear")
    found = model_from_bytes(sealed(manifest | {"schema": {"columns": COLUMNS}}, arrays), "m")
    assert found.schema.names == ("age", "weight", "town")


# ------------------------------------------------------------------ archives


def zipped(entries, **how):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **how) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return target.getvalue()


def inflating(name, size):
    """Return an archive of one entry that inflates enormously, built block by block."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file,
        file.open(name, "w", force_zip64=True) as entry,
    ):
        block = bytes(1 << 20)
        for _ in range(size >> 20):
            entry.write(block)
    return target.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS", "arrays/scorer.weights.npy"])
def test_decompression_bomb_is_refused(name):
    data = inflating(name, 200 << 20)
    assert len(data) < 500_000
    assert "inflate" in refused(data) or name == "SHA256SUMS"


def test_entry_with_understated_size_is_refused():
    data = bytearray(inflating(_W, 64 << 20))
    place = data.index(struct.pack("<I", 64 << 20), data.index(b"PK\x01\x02"))
    data[place : place + 4] = struct.pack("<I", 168)
    refused(bytes(data))


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 4_000, 20_001])
def test_too_many_entries_are_refused(count):
    refused(zipped({f"arrays/{k}.npy": b"" for k in range(count)}))


def test_combination_of_many_fold_models_round_trips():
    """The default library has twelve members, each stored once per fold."""
    parts = tuple(Part(SCORERS["trees"], 0.5**k, 0.0) for k in range(12 * 20))
    model = dataclasses.replace(model_of("linear"), scorer=CombinationScorer(parts))
    again = model_from_bytes(model_to_bytes(model), "m")
    X = np.random.default_rng(1).normal(size=(3, D))
    np.testing.assert_array_equal(again.scorer(X), model.scorer(X))


def test_duplicate_entry_is_refused():
    manifest, arrays = parts("linear")
    target = io.BytesIO(sealed(manifest, arrays))
    with zipfile.ZipFile(target, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr(_W, array_to_bytes(np.zeros(D)))
    refused(target.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_methods_are_refused(method):
    entries = unpacked("linear")
    assert "compressed by an unknown method" in refused(zipped(entries, compression=method))


def unpacked(kind):
    with zipfile.ZipFile(io.BytesIO(model_to_bytes(model_of(kind)))) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_repacked_archive_is_the_same_model():
    entries = unpacked("trees")
    again = zipped(dict(reversed(entries.items())), compression=zipfile.ZIP_STORED)
    model = model_from_bytes(again, "m")
    assert model_to_bytes(model) == model_to_bytes(model_of("trees"))


def test_checksums_must_exist_and_cover_every_entry():
    entries = unpacked("linear")
    without = {name: data for name, data in entries.items() if name != "SHA256SUMS"}
    assert "SHA256SUMS" in refused(zipped(without))
    lines = entries["SHA256SUMS"].splitlines(keepends=True)
    refused(zipped(entries | {"SHA256SUMS": b"".join(lines[1:])}))
    refused(zipped(entries | {"SHA256SUMS": b"".join(lines) + b"0" * 64 + b"  more\n"}))
    refused(zipped(entries | {"SHA256SUMS": b"hello"}))
    changed = array_to_bytes(np.zeros(D))
    assert "checksum differs" in refused(zipped(entries | {_W: changed}))


@pytest.mark.slow
def test_highly_compressible_model_is_accepted():
    few = KernelScorer(Kernel("rbf", 1.0), np.zeros((4_000_000, D)), np.zeros(4_000_000))
    manifest, arrays = parts("kernel")
    arrays |= {f"arrays/scorer.{name}.npy": array for name, array in few.arrays().items()}
    data = sealed(manifest, arrays)
    assert len(model_from_bytes(data, "m").scorer.arrays()["weights"]) == 4_000_000


# ------------------------------------------------------------------ special files


def test_pipes_folders_and_devices_are_refused(tmp_path):
    pipe = tmp_path / "pipe.aucmodel"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="a pipe or a device"):
        load_model(pipe)
    with pytest.raises(InputError, match="a folder"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="a pipe or a device"):
        load_model("/dev/zero")


def test_oversized_file_is_not_read(tmp_path):
    path = tmp_path / "huge.aucmodel"
    with path.open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(InputError, match="is it the right file"):
        load_model(path)


@pytest.mark.parametrize("name", ["a" * 300, "nul\0", "x/" * 3000])
def test_impossible_file_names_are_refused(name):
    with pytest.raises(InputError, match="cannot be read"):
        load_model(name)


def test_archive_appended_to_another_file_is_refused():
    data = model_to_bytes(model_of("linear"))
    assert model_from_bytes(data, "m").label == "outcome"
    with pytest.raises(InputError, match="not those of an archive"):
        model_from_bytes(b"SQLite format 3\0" + data, "m")
