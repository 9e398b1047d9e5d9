"""The byte scan of a file is independent of the chunk size."""

import io
import random

import numpy as np
import pytest

from aucstudio.project.data.columns import Column
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import rows
from aucstudio.project.data.text import scan as scan_module
from aucstudio.project.data.text.scan import scan
from tests.conftest import write_file

_PIECES = [b"\r\n", b"\n", b"\r", b"a", b"n", b"+", b"-", b"_", "ä".encode(), "€".encode(), b"\xe4"]


@pytest.mark.parametrize("seed", range(40))
def test_scan_does_not_depend_on_the_chunk_size(tmp_path, monkeypatch, seed):
    draw = random.Random(seed)
    some = draw.sample(_PIECES, draw.randint(1, 5))
    below = b"".join(draw.choices(some, k=60))
    data = b"x,y\n" + below
    path = write_file(tmp_path / "bytes.csv", data)
    monkeypatch.setattr(scan_module, "CHUNK", draw.randint(1, 9))
    found = scan(path, lambda part: None)
    crlf, lf, cr = (data.count(end) for end in (b"\r\n", b"\n", b"\r"))
    assert found.lines == lf + cr - crlf + 1
    assert found.uniform == (cr == crlf and crlf in (0, lf))
    try:
        data.decode()
    except UnicodeDecodeError:
        assert found.encoding is None
    else:
        assert found.encoding == "utf-8"
    assert found.lookalikes == (b"_" in below or b"+-" in below)


@pytest.mark.parametrize("chunk", [1, 4, 5, 9, 64])
def test_repeated_header_is_found_across_chunks(monkeypatch, chunk):
    monkeypatch.setattr(rows, "CHUNK", chunk)
    for text, known in [
        (b"1,2\nx,y\n3,4\n", True),
        (b"x,y\n", True),
        (b"1,x,y\n2,3\n", False),
        (b"", False),
    ]:
        assert rows.holds_line(io.BytesIO(text), {b"x,y"}) is known


@pytest.mark.slow
def test_distinct_texts_of_a_long_file_are_parsed_once(tmp_path):
    """Use enough rows for DuckDB and for parallel processing of columns."""
    cells = [" yes", "no ", "NA", "yes", "", "\u00a0no", "n/a", "naN", "na\u00efve", "?"]
    with (tmp_path / "long.csv").open("w") as file:
        file.write("x,word,y\n")
        file.writelines(f"{k % 7}.5,{cells[k % 10]},{k % 2}\n" for k in range(120_000))
    word = read_table(tmp_path / "long.csv", label="y").column("word")
    assert word.values[:10].tolist() == [
        "yes", "no", None, "yes", None, "no", None, None, "na\u00efve", None,
    ]  # fmt: skip
    assert (word.missing, word.distinct) == (60_000, 3)
    assert word.counts == {"na\u00efve": 12_000, "no": 24_000, "yes": 24_000}
    assert len({id(cell) for cell in word.values}) == 4


def test_counts_of_texts_are_sorted():
    values = np.array(["b", None, "a", "b"], dtype=object)
    assert list(Column.of_cells("c", values, 1, 2).counts.items()) == [("a", 1), ("b", 2)]
