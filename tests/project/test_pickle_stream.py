"""Objects sent through a pipe."""

import dataclasses
import io
import pickle

import numpy as np
import pytest

from aucstudio.project.pickle_stream import RefusedObjectError, receive, send
from aucstudio.project.typed import Sendable


@dataclasses.dataclass
class Parcel:
    name: str
    arrays: list[np.ndarray]


@dataclasses.dataclass(frozen=True)
class Reply(Sendable):
    name: str = "unchanged"


class Error(Exception):
    """An error with any arguments."""


def sent(*things):
    stream = io.BytesIO()
    for thing in things:
        send(stream, thing)
    stream.seek(0)
    return stream


def test_objects_are_received_unchanged_and_in_order():
    numbers = np.arange(12.0).reshape(3, 4)
    arrays = [numbers, numbers.T, numbers[:, ::2], np.empty((0, 2)), numbers > 5]
    stream = sent(Parcel("first", arrays), "second", None)
    found = receive(stream)
    assert found.name == "first"
    for one, other in zip(found.arrays, arrays, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    found.arrays[0][0, 0] = 7.0  # the received array is a writable copy
    assert numbers[0, 0] == 0.0
    assert [receive(stream), receive(stream)] == ["second", None]


@pytest.mark.parametrize("rows", [0, 1, 20_000, 20_001, 50_000])
def test_text_columns_are_received_unchanged(rows):
    texts = np.array([None if k % 7 == 0 else f"level {k % 5}" for k in range(rows)], dtype=object)
    found = receive(sent(texts))
    assert found.dtype == object
    assert found.tolist() == texts.tolist()


def test_closed_or_truncated_stream_raises_eof():
    with pytest.raises(EOFError):
        receive(io.BytesIO())
    whole = sent(np.arange(1000.0)).getvalue()
    for kept in (-8, 10):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole[:kept]))


class Command:
    """An object that runs a function when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: {"notes": (c,)}, lambda c: [Error(c)]])
def test_forbidden_classes_are_refused_before_they_run(tmp_path, wrap):
    path = tmp_path / "written"
    with pytest.raises(RefusedObjectError):
        receive(sent(wrap(Command(path))), [Error])
    assert not path.exists()


def test_raw_pickle_commands_are_refused(tmp_path):
    path = tmp_path / "written"
    with pytest.raises(RefusedObjectError):
        receive(io.BytesIO(pickle.dumps(Command(path))), [Error])
    with pytest.raises(RefusedObjectError):
        receive(sent(np.arange(3)), [Error])
    assert not path.exists()


def test_plain_values_and_allowed_classes_are_received(tmp_path):
    error = receive(sent(Error("a", 2)), [Error])
    assert error.args == ("a", 2)
    plain = {"a": (1, 2.5, None, True, b"x"), "b": [{"c"}, "ü"]}
    assert receive(sent(plain), []) == plain
    assert receive(sent(Reply("a")), [Reply]) == Reply("a")


@pytest.mark.parametrize("target", [Reply, Error])
def test_pickle_cannot_modify_an_allowed_class(target):
    name = f"c{target.__module__}\n{target.__qualname__}\n".encode()
    state = pickle.dumps((None, {"name": "changed"}), 2)[2:-1]
    stream = io.BytesIO(pickle.dumps((b"\x80\x02" + name + state + b"b.", [])))
    with pytest.raises(TypeError):
        receive(stream, [target])
    assert Reply().name == "unchanged"
    assert not hasattr(Error, "name")
