"""Cache of compiled machine code; damaged entries are compiled again.

The compiler's own cache believes its files: an empty one, as a power cut leaves, ends every start
in a traceback, and a changed bit is run. Here each file ends with a digest of the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)

# A file of another version may name types that this one does not have.
_OUTDATED = (AttributeError, ImportError, pickle.UnpicklingError)


class _Summed:
    """A file being written, with the digest of what went into it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.sum = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sum.update(data)
        return int(self._file.write(data))


def _is_whole(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return False
    size = hashlib.sha256().digest_size
    return hashlib.sha256(content[:-size]).digest() == content[-size:]


class _CheckedFiles(IndexDataCacheFile):
    # What is read is followed by what its reader passes over: the digest.

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[_Summed]:
        with super()._open_for_write(filepath) as file:
            summed = _Summed(file)
            yield summed
            file.write(summed.sum.digest())

    def _load_index(self) -> Any:
        with contextlib.suppress(*_OUTDATED):
            return super()._load_index() if _is_whole(self._index_path) else {}
        return {}

    def _load_data(self, name: str) -> Any:
        with contextlib.suppress(*_OUTDATED):
            if _is_whole(self._data_path(name)):
                return super()._load_data(name)
        raise FileNotFoundError(name)  # the function is then compiled and written again


def _folder() -> str:
    return str(getattr(config, "CACHE_DIR", ""))


class _PackagedLocator(_CacheLocator):
    """Where a packaged program keeps machine code: in a folder that is named after its build.

    It has no source files next to which the code could be stored, and an AppImage is mounted
    elsewhere at each start.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @classmethod
    def from_function(cls, function: Callable[..., Any], _file: str) -> _PackagedLocator | None:
        if not getattr(sys, "frozen", False) or not _folder():
            return None
        locator = cls(function)
        try:
            locator.ensure_cache_path()
        except OSError:
            return None
        return locator

    def get_cache_path(self) -> str:
        return f"{_folder()}/{self._function.__module__}"

    def get_source_stamp(self) -> str:
        return ""  # the folder is that of one build

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_PackagedLocator, *CompileResultCacheImpl._locator_classes]  # type: ignore[list-item]  # noqa: RUF012


class CodeCache(FunctionCache):
    """The machine code of one function; what is damaged counts as not there.

    Raises
    ------
    RuntimeError
        If there is no folder for it.
    """

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code, where there is room for it."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
