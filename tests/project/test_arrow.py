"""Files and streams of Arrow; levels that nanoarrow would read wrongly are unpacked."""

import contextlib
import struct

import numpy as np
import pytest
from zstandard import ZstdError

from aucstudio.project.data.readers.arrow_levels import unpack_levels
from aucstudio.project.data.readers.lz4 import unpack_lz4
from aucstudio.project.data.table import read_table
from aucstudio.project.errors import InputError
from tests.project.test_formats import CSV, FIXTURES, cells

CASES = FIXTURES / "cases.feather"
# Packed by zstd, and by LZ4.
LEVELS = ["levels.feather", "levels_lz4.feather"]


def test_levels_that_are_not_compressed_are_categories():
    table, whole = read_table(FIXTURES / "levels.arrow"), read_table(CSV)
    assert table.format == "arrow"
    assert cells(table, "city") == cells(whole, "city")


@pytest.mark.parametrize("name", LEVELS)
def test_levels_that_are_compressed_are_categories(name):
    table, whole = read_table(FIXTURES / name), read_table(CSV)
    assert cells(table, "city") == cells(whole, "city")


@pytest.mark.parametrize("name", LEVELS)
def test_damaged_levels_are_refused(tmp_path, name):
    content = (FIXTURES / name).read_bytes()
    source, target = tmp_path / "t.feather", tmp_path / "t.arrows"
    refused = (ValueError, LookupError, struct.error, EOFError, InputError, ZstdError)
    for place in range(8, len(content), 15):
        for damaged in (content[:place], content[:place] + b"\x81" + content[place + 1 :]):
            source.write_bytes(damaged)
            with contextlib.suppress(*refused):
                unpack_levels(source, 8, target)
                assert target.stat().st_size < 20 * len(content)


def frame(*blocks, flags=0x40):
    packed = struct.pack("<IBBB", 0x184D2204, flags, 0x40, 0)
    for block, as_it_is in blocks:
        packed += struct.pack("<I", len(block) | as_it_is << 31) + block
    return packed + bytes(4)


def test_a_frame_of_lz4():
    # Two letters, of which the last is repeated 4 + 15 + 3 times; then as it is; then back again.
    first = b"\x2fab\x01\x00\x03" + b"\x10c"
    packed = frame((first, 0), (b"xyz", 1), (b"\x00\x03\x00" + b"\x10!", 0))
    assert unpack_lz4(packed, 99) == b"ab" + b"b" * 22 + b"cxyz" + b"xyzx" + b"!"
    long = b"\xf0\xff\x01" + b"q" * 271
    assert unpack_lz4(frame((long, 0)), 271) == b"q" * 271
    with pytest.raises(ValueError, match="more than was said"):
        unpack_lz4(frame((long, 0)), 270)
    with pytest.raises(ValueError, match="before the beginning"):
        unpack_lz4(frame((b"\x10a\x02\x00", 0)), 99)


def test_a_stream_is_a_file_without_its_frame(tmp_path):
    path = tmp_path / "t.arrows"
    path.write_bytes(CASES.read_bytes()[8:])
    table = read_table(path)
    assert np.array_equal(table.column("n").values, read_table(CASES).column("n").values)


def test_a_type_that_is_not_read_is_named(tmp_path):
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
    with pytest.raises(InputError, match="holds a column of the type float16, which is not read"):
        read_table(path)
