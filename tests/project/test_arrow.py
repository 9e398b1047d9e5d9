"""Arrow files and streams; compressed levels that nanoarrow misreads are unpacked."""

import contextlib
import struct

import numpy as np
import pytest
from zstandard import ZstdError

from aucstudio.project.data.readers.columnar import unpack_levels
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.conftest import write_file
from tests.project.test_formats import CSV, FIXTURES, cells

CASES = FIXTURES / "cases.feather"
# Packed by zstd, and by LZ4.
LEVELS = ["levels.feather", "levels_lz4.feather"]


def test_uncompressed_levels_are_categories():
    table, whole = read_table(FIXTURES / "levels.arrow"), read_table(CSV)
    assert table.format == "arrow"
    assert cells(table, "city") == cells(whole, "city")


@pytest.mark.parametrize("name", LEVELS)
def test_compressed_levels_are_categories(name):
    table, whole = read_table(FIXTURES / name), read_table(CSV)
    assert cells(table, "city") == cells(whole, "city")


@pytest.mark.parametrize("name", LEVELS)
def test_damaged_levels_are_refused(tmp_path, name):
    content = (FIXTURES / name).read_bytes()
    source, target = tmp_path / "t.feather", tmp_path / "t.arrows"
    refused = (ValueError, LookupError, struct.error, EOFError, RuntimeError, InputError, ZstdError)
    for place in range(8, len(content), 15):
        for damaged in (content[:place], content[:place] + b"\x81" + content[place + 1 :]):
            source.write_bytes(damaged)
            with contextlib.suppress(*refused):
                unpack_levels(source, 8, target)
                assert target.stat().st_size < 20 * len(content)


@pytest.mark.parametrize("length", [-2, -(2**62)])
def test_levels_of_negative_length_are_refused(tmp_path, length):
    content = (FIXTURES / "levels_lz4.feather").read_bytes()
    place = content.index(struct.pack("<I", 0x184D2204)) - 8
    source = tmp_path / "t.feather"
    source.write_bytes(content[:place] + struct.pack("<q", length) + content[place + 8 :])
    with pytest.raises(ValueError, match="levels of a category are damaged"):
        unpack_levels(source, 8, tmp_path / "t.arrows")
    with pytest.raises(InputError, match="damaged"):
        read_table(source)


def test_arrow_stream_equals_the_file_without_its_frame(tmp_path):
    table = read_table(write_file(tmp_path / "t.arrows", CASES.read_bytes()[8:]))
    assert np.array_equal(table.column("n").values, read_table(CASES).column("n").values)


def test_unsupported_type_is_named(tmp_path):
    import nanoarrow
    from nanoarrow.ipc import StreamWriter

    path = tmp_path / "t.arrows"
    schema = nanoarrow.struct({"h": nanoarrow.float16(), "y": nanoarrow.int32()})
    rows = nanoarrow.c_array_from_buffers(
        schema,
        2,
        [None],
        children=[
            nanoarrow.c_array_from_buffers(nanoarrow.float16(), 2, [None, b"\0<\0@"]),
            nanoarrow.c_array([0, 1], nanoarrow.int32()),
        ],
    )
    with StreamWriter.from_path(path) as writer:
        writer.write_stream(rows)
    with pytest.raises(InputError, match="a column of the unsupported type float16"):
        read_table(path)
