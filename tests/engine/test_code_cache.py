"""Damaged machine code in the cache is recompiled."""

import importlib.util
import os
import subprocess
import sys

import pytest
from numba.core.caching import IndexDataCacheFile

from tests.conftest import write_file

FUNCTION = """
from aucstudio.engine.compiled import kernel


@kernel
def twice(x):
    return 2 * x
"""

NAMED = """
from typing import NamedTuple

from aucstudio.engine.compiled import kernel


class Number(NamedTuple):
    value: float


@kernel
def doubled(number):
    return 2 * number.value


def twice(x):
    return doubled(Number(x))
"""

# The kernels of an online method, some of which call others.
REAL = """
import numpy as np
from aucstudio.engine import METHODS

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
print(METHODS["noam"]().fit(X, y).decision_function(X).sum().hex())
"""


def emptied(content):
    return b""


def halved(content):
    return content[: len(content) // 2]


def zeroed(content):
    return bytes(len(content))


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = [emptied, halved, zeroed, flipped]


def files(folder, ending):
    return sorted(path for path in folder.rglob(f"*{ending}"))


def loaded(path):
    """Reimport a module and return its function, not yet compiled."""
    spec = importlib.util.spec_from_file_location("cached_functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


@pytest.fixture
def source(tmp_path):
    return write_file(tmp_path / "cached_functions.py", FUNCTION)


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cache_file_is_recompiled_and_replaced(source, damage, ending):
    assert loaded(source)(21) == 42
    (path,) = files(source.parent, ending)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    again = loaded(source)
    assert again(21) == 42
    assert sum(again.compiled.stats.cache_misses.values()) == 1
    assert path.read_bytes() != damage(whole)
    third = loaded(source)
    assert third(21) == 42
    assert sum(third.compiled.stats.cache_hits.values()) == 1


def test_cache_of_another_version_is_recompiled(source, monkeypatch):
    """The type of the argument has another name in it."""
    monkeypatch.syspath_prepend(source.parent)
    for text in (NAMED, NAMED.replace("Number", "RenamedNumber")):
        source.write_text(text)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "cached_functions", raising=False)
        assert importlib.import_module("cached_functions").twice(21) == 42


def test_function_works_when_the_cache_cannot_be_written(source, monkeypatch):
    function = loaded(source)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    assert function(21) == 42


def run_real(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", REAL], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.slow
def test_methods_work_with_a_damaged_cache(tmp_path):
    first = run_real(tmp_path)
    assert (first.returncode, first.stderr) == (0, "")
    kept = files(tmp_path, ".nb?")
    assert len(kept) > 2 * len(DAMAGES)
    for k, path in enumerate(kept):
        path.write_bytes(DAMAGES[k % len(DAMAGES)](path.read_bytes()))
    done = run_real(tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", first.stdout)
    written = {path: path.stat().st_mtime_ns for path in files(tmp_path, ".nb?")}
    assert run_real(tmp_path).stdout == first.stdout
    assert written == {path: path.stat().st_mtime_ns for path in files(tmp_path, ".nb?")}
